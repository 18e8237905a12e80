# SPDX-License-Identifier: Apache-2.0
"""The engines. Each module imports its engine at the top, which takes half a minute: scenarios import them when they run."""
