"""A device that is not the processor, on machines that have no other: its numbers lie in memory like all others.

What it has of a GPU is the strictness. An operation on tensors of two devices raises, and no tensor of it becomes an
array before it has been copied to the processor. It also refuses CPU indices of its tensors, which a GPU would allow.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

NAME = "lazy:0"
"""A kind of device that every build of torch can name and that nothing here uses."""

CROSSINGS = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


class Far(Tensor):
    """A tensor of that device, which holds one of the processor's."""

    near: Tensor

    @staticmethod
    def __new__(cls: type[Self], near: Tensor) -> Self:
        how: dict[str, Any] = {"storage_offset": near.storage_offset(), "dtype": near.dtype, "device": NAME}
        far = torch.Tensor._make_wrapper_subclass(cls, near.size(), near.stride(), **how)
        far.near = near
        return far

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        return carried_out(func, args, kwargs or {})


class Factories(TorchDispatchMode):
    """Lets torch make tensors on that device."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return carried_out(func, args, kwargs or {})


@contextmanager
def reachable() -> Iterator[None]:
    """Inside, tensors can be made on that device and moved there."""
    before = torch._C._only_lift_cpu_tensors()
    torch._C._set_only_lift_cpu_tensors(True)  # `torch.tensor(…, device=…)` makes them here and moves them
    try:
        with Factories():  # type: ignore[no-untyped-call]
            yield
    finally:
        torch._C._set_only_lift_cpu_tensors(before)


def carried_out(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """An operation of torch with its rule about devices."""
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    n_far = sum(isinstance(tensor, Far) for tensor in tensors)
    n_near = sum(not isinstance(tensor, Far) and tensor.ndim > 0 for tensor in tensors)
    if n_far and n_near and func not in CROSSINGS:
        raise RuntimeError(f"{func} got tensors of two devices.")
    if func is torch.ops.aten._conj.default:  # only a flag, which is not looked at below wrappers
        func = torch.ops.aten.conj_physical.default
    where = kwargs.get("device")
    if where is not None:
        kwargs = kwargs | {"device": "cpu"}
    is_far = n_far > 0 if where is None else torch.device(where).type != "cpu"
    made = func(*tree_map(_near, args), **tree_map(_near, kwargs))
    if func._schema.name.endswith("_") and not func._schema.name.endswith("__"):
        return args[0]
    return tree_map(lambda leaf: Far(leaf) if is_far and isinstance(leaf, Tensor) else leaf, made)


def _near(leaf: Any) -> Any:
    return leaf.near if isinstance(leaf, Far) else leaf
