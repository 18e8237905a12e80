# SPDX-License-Identifier: Apache-2.0
"""vLLM's offloading to host memory where there is no GPU. Its worker copies with CUDA; here a stand-in says that every copy is
done. Which blocks go to the host, which are dropped there, and what is announced of it stays vLLM's own scheduler's doing."""

from typing import Any

from vllm.v1.kv_offload.base import OffloadingWorker, TransferResult
from vllm.v1.kv_offload.cpu.spec import CPUOffloadingSpec


class AcknowledgingWorker(OffloadingWorker):
    """Moves nothing. Results are handed out with the next step, as those of real copies are."""

    def __init__(self) -> None:
        self._done: list[TransferResult] = []

    def submit_store(self, job_id: int, src_spec: Any, dst_spec: Any) -> bool:
        self._done.append(TransferResult(job_id=job_id, success=True))
        return True

    def submit_load(self, job_id: int, src_spec: Any, dst_spec: Any) -> bool:
        return self.submit_store(job_id, src_spec, dst_spec)

    def get_finished(self) -> list[TransferResult]:
        done, self._done = self._done, []
        return done

    def wait(self, job_ids: set[int]) -> None:
        """Nothing is ever under way."""


class AcknowledgedOffloading(CPUOffloadingSpec):
    """Named in the connector's configuration (`spec_name`)."""

    def get_worker(self, kv_caches: Any) -> OffloadingWorker:
        return AcknowledgingWorker()
