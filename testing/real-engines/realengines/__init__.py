# SPDX-License-Identifier: Apache-2.0
"""Runs real engines beside kvindex and compares every answer with what the engine itself holds.

A scenario drives one engine and writes down verdicts. The modules, in the order in which a scenario meets them:

prompts     what is asked of the engine and of kvindex
engines     vLLM in this process, vLLM's server, SGLang's caches: who does the work, and whose word is the truth
events      the engine's event stream, read without any code of kvindex
mirror      what can be known from those events alone
client      kvindex: the server that is started, and what is asked of it
compare     verdicts, counted by reason
scenarios   what happens in which order
"""
