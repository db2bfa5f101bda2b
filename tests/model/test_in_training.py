"""A finished model put back into training: its dropout and its gradients, against torch by hand."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch
import torch.nn.functional as F

from tests.cases import each
from tests.model.helpers import config
from tfmviz.model import in_training
from tfmviz.model.linear import ready_to_read
from tfmviz.model.transformer import Transformer, build

IDS = [3, 1, 4, 1, 5, 9, 2, 6]


def model(**settings: object) -> Transformer:
    torch.manual_seed(7)
    return ready_to_read(build(config(**settings)))


def losses(module: Transformer) -> torch.Tensor:
    with torch.inference_mode():
        return F.cross_entropy(module(torch.tensor([IDS]))[0, :-1], torch.tensor(IDS[1:]), reduction="none")


def test_without_dropout_every_run_is_the_model_and_with_it_the_seed_decides() -> None:
    module = model()
    runs = in_training.losses_with_dropout(module, [IDS], dropout=0.0, runs=3, seed=1)
    torch.testing.assert_close(runs, losses(module).expand(3, -1))
    first, again, other = (
        in_training.losses_with_dropout(module, [IDS], dropout=0.3, runs=2, seed=seed) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)
    assert not torch.allclose(first[0], first[1])


def test_dropout_leaves_the_model_and_torch_s_random_numbers_as_they_were() -> None:
    module = model()
    before, state = losses(module), torch.random.get_rng_state()
    copy = in_training.in_training_mode(module, dropout=0.3)
    in_training.losses_with_dropout(module, [IDS], dropout=0.3, runs=2, seed=1)
    assert torch.equal(losses(module), before)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not module.training
    ours, shared = dict(module.named_parameters()), dict(copy.named_parameters())
    assert all(shared[name].data_ptr() == weight.data_ptr() for name, weight in ours.items())


@each("norm_position", ["pre", "post"])
def test_gradient_lengths_are_those_of_a_backward_pass(norm_position: str) -> None:
    module = model(norm_position=norm_position)
    found = in_training.gradient_lengths(module, [IDS])
    trainable = build(module.config)
    trainable.load_state_dict(module.state_dict())
    F.cross_entropy(trainable(torch.tensor([IDS]))[0, :-1], torch.tensor(IDS[1:])).backward()
    squares: dict[str, float] = {}
    for name, weight in trainable.named_parameters():
        if (layer := in_training.layer_of(name)) and weight.grad is not None:
            squares[layer] = squares.get(layer, 0.0) + weight.grad.square().sum().item()
    assert found == pytest.approx({layer: square**0.5 for layer, square in squares.items()}, rel=1e-4)
    assert all(weight.grad is None and not weight.requires_grad for weight in module.parameters())


def test_gradients_of_several_texts_at_once_are_those_of_each() -> None:
    module = model()
    texts = [IDS, IDS[::-1]]
    alone = [in_training.gradient_lengths(module, [text]) for text in texts]
    weights = list(module.parameters())
    both_read = Barrier(2, timeout=300)

    def meet(*_: object) -> None:
        both_read.wait()

    module.register_forward_pre_hook(meet)
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda text: in_training.gradient_lengths(module, [text]), texts))
    assert together == [pytest.approx(expected, rel=1e-4) for expected in alone]
    assert all(one is other for one, other in zip(weights, module.parameters(), strict=True))


def test_every_layer_has_a_gradient_and_untrained_weights_depend_on_the_seed_alone() -> None:
    module = model()
    found = in_training.gradient_lengths(module, [IDS])
    layers = {f"decoder.{n}.{part}" for n in range(module.config.n_layers) for part in ("self_attn", "mlp")}
    assert found.keys() == layers | {"embedding"}
    left_out = [name for name, _ in module.named_parameters() if not in_training.layer_of(name)]
    assert all(".blocks." not in name for name in left_out)
    one, other, same = (in_training.untrained(config(), seed=seed).state_dict() for seed in (3, 4, 3))
    assert one is not same, "the second was kept, not drawn"
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)
