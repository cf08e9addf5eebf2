"""The search: trials on three rungs, finalists that are complete runs, and the judgement of them.

The clock is read once, to convert the duration into steps. From then on the steps decide, so that
the same plan gives the same winner to the bit, whatever else the machine does, and a search that
was stopped goes on where it was.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from regard import run as folders
from regard import run_files
from regard.account.observed import facts_of_model
from regard.errors import Stopped, UsageError
from regard.recipe.budget import parse_budget
from regard.recipe.load import override
from regard.recipe.recipe import Recipe
from regard.run import Run
from regard.tasks.task import Evaluation
from regard.training.preparation import MAX_VALID
from regard.training.step_timing import batch_loads, build_training
from regard.training.train import train
from regard.training.trial import run_trial
from regard.training.watcher import Progress
from regard.tune.candidates import Candidate, Candidates, Limits, describe_size
from regard.tune.halving import admit, promote
from regard.tune.judgement import divide
from regard.tune.outcome import Outcome, find_best, judge_finalists, rank, run_folder
from regard.tune.planning import PLAN, Options, plan_search, read_plan
from regard.tune.standing import Clock, SearchWatcher, Standing
from regard.tune.trials import (
    FAILED,
    LEFT_OUT,
    TRIALS,
    Bench,
    Record,
    Records,
    check_score,
    count_steps,
    describe_failure,
)


def tune(
    recipe: Recipe, folder: Path, options: Options, watcher: SearchWatcher, *, resume: bool = False
) -> Outcome:
    """Search for better settings of a recipe; an interrupted search returns the best so far."""
    if resume and not (folder / PLAN).is_file():
        raise UsageError(
            f"{folder} holds no search, so there is nothing to resume.", "Start without --resume."
        )
    if not resume:
        folders.create(folder)
    with folders.lock(folder):
        try:
            search = Search(recipe, folder, options, watcher)
        except BaseException:
            if not (folder / PLAN).exists():  # so that the name can be used again
                (folder / run_files.LOCK).unlink(missing_ok=True)
                folder.rmdir()
            raise
        return search.run()


class Search:
    """A search in its folder.

    Args:
        recipe: The recipe itself.
        folder: Where everything is written.
        options: What is asked; a search that is resumed has its plan's.
        watcher: Receives events.

    """

    def __init__(
        self, recipe: Recipe, folder: Path, options: Options, watcher: SearchWatcher
    ) -> None:
        began = time.monotonic()
        self.folder, self.watcher = folder, watcher
        self.bench = Bench(recipe, folder, _TrialWatcher(self))
        self.recipe, self.task = self.bench.recipe, self.bench.first.task
        self.halves = divide(self.recipe)
        self.bench.valid = self.halves.search[:MAX_VALID]
        first = self.bench.prepare(self.recipe)
        planned = read_plan(first, folder)
        self.planned = planned or plan_search(first, options, folder, began=began)
        self.plan = self.planned.plan
        self.records = Records(folder / TRIALS)
        self.clock = Clock(self.plan.last)

    def run(self) -> Outcome:
        """Run all rungs and judge the finalists; a signal ends it with the best so far."""
        candidates = self._admit()
        entrants, interrupted = sorted(candidates), False
        verdicts = []
        plan, shortest = self.plan, f"{max(1, round(self.plan.length(0))):,}"
        self.watcher.say(
            f"{len(entrants)} trials of {shortest} steps; finalists are trained for "
            f"{plan.longest:,} of the recipe's own {self.planned.own:,} steps"
        )
        try:
            for rung in range(plan.rungs):
                costs = [candidates[number].cost * plan.length(rung) for number in entrants]
                self.clock.enter(rung, costs)
                for number in entrants:
                    self._run(candidates[number], rung)
                if rung < plan.last:
                    entrants = self._promote(rung + 1, entrants, candidates)
            self.watcher.say("judging the finalists on examples that the search has not seen")
            verdicts = judge_finalists(self.task.metric, self.records.all, self.folder, self.halves)
        except (Stopped, KeyboardInterrupt):
            interrupted = True
        return Outcome(
            folder=self.folder,
            recipe=self.recipe,
            metric=self.task.metric,
            plan=plan,
            own=self.planned.own,
            records=self.records.all,
            recipes={number: candidate.recipe for number, candidate in candidates.items()},
            verdicts=verdicts,
            split={"search": len(self.bench.valid), "judgement": len(self.halves.judgement)},
            interrupted=interrupted,
        )

    def report_step(self, part: float) -> None:
        """Tell the watcher where the search stands; ``part`` of the current trial is done."""
        self.watcher.receive_standing(self._standing(part))

    def _admit(self) -> dict[int, Candidate]:
        """Draw the trials of the first rung; record those that are left out."""
        first = self.bench.first
        _, state = build_training(self.recipe, first)
        facts = facts_of_model(state.model, self.task.tokenizer.size)
        loads = batch_loads(first)
        length = max(1, round(sum(load.length for load in loads) / len(loads)))
        planned = self.planned
        drawn = Candidates(self.recipe, planned.seed, facts, length, self.bench.complete)
        limits = Limits(self.plan.dearest, planned.memory, planned.size)
        found: dict[int, Candidate] = {}

        def costs() -> Iterator[tuple[int, float]]:
            for candidate in drawn.draw(limits):
                if candidate.refusal:
                    self._leave_out(candidate, 0, candidate.refusal)
                else:
                    found[candidate.number] = candidate
                    yield candidate.number, candidate.cost

        admitted = admit(self.plan, costs())
        if not admitted:
            raise UsageError(
                f"no candidate fits the limits. The recipe itself: {self.records.all[0].problem}.",
                "Raise the limit, or begin from a smaller recipe: --set model.width=...",
            )
        return {number: found[number] for number in admitted}

    def _promote(
        self, rung: int, entrants: list[int], candidates: Mapping[int, Candidate]
    ) -> list[int]:
        """Return the trials of the next rung."""
        found = [self.records.find(number, rung - 1) for number in entrants]
        ranked = [one.trial for one in rank(self.task.metric, [one for one in found if one])]
        costs = {number: candidates[number].cost for number in ranked}
        kept, dropped = promote(self.plan, rung, ranked, costs)
        for number in dropped:
            problem = f"costs {costs[number]:.1f} times the recipe, more than rung {rung + 1} holds"
            self._leave_out(candidates[number], rung, problem)
        return kept

    def _leave_out(self, candidate: Candidate, rung: int, problem: str) -> None:
        number = candidate.number
        if self.records.find(number, rung) is None:
            record = Record(number, rung, candidate.changes, status=LEFT_OUT, problem=problem)
            self.records.add(record)
            self.watcher.say(f"trial {number} left out: {problem}")

    def _run(self, candidate: Candidate, rung: int) -> None:
        """Run a trial, unless its record is there; a failure is recorded."""
        record = self.records.find(candidate.number, rung)
        if record is None:
            began = time.monotonic()
            record = Record(candidate.number, rung, candidate.changes)
            try:
                record = self._train(candidate, record)
            except Exception as error:
                record = record._replace(status=FAILED, problem=describe_failure(error))
            record = record._replace(seconds=time.monotonic() - began)
            self.records.add(record)
        self.clock.finish(record.seconds)
        self.watcher.receive_record(record, self._standing())

    def _train(self, candidate: Candidate, record: Record) -> Record:
        """Train a candidate for the length of a rung; those of the last become runs."""
        prepared = self.bench.prepare(candidate.recipe)
        timed = parse_budget(self.recipe.training.budget).kind == "time"
        own = self.planned.own / candidate.pace if timed else count_steps(prepared)
        steps = max(1, round(own * self.plan.length(record.rung) / self.planned.own))
        measured: Evaluation
        if record.rung < self.plan.last:
            measured, size = run_trial(prepared, steps, _TrialWatcher(self))
        else:
            run = self._train_run(candidate, steps)
            measured = run.task.measure(run.model, self.bench.valid, quick=True)
            size = (run.folder / run_files.MODEL).stat().st_size
        record = record._replace(steps=steps, bytes=size)
        if too_large := describe_size(size, self.planned.size):
            return record._replace(status=LEFT_OUT, problem=too_large)
        return record._replace(score=check_score(measured.metrics[self.task.metric]))

    def _train_run(self, candidate: Candidate, steps: int) -> Run:
        """Train a finalist, or finish one that was interrupted."""
        folder = run_folder(self.folder, candidate.number)
        if (folder / run_files.SEAL).exists():
            return Run(folder)
        recipe = override(candidate.recipe, {"training.budget": f"{steps} steps"})
        return train(
            recipe,
            folder,
            resume=folder.exists(),
            watcher=_TrialWatcher(self),
            valid=self.bench.valid,
        )

    def _standing(self, part: float = 0.0) -> Standing:
        metric, records = self.task.metric, self.records.all
        clock = self.clock
        best, left = find_best(metric, records), clock.seconds_left(part)
        return Standing(clock.done, clock.all, clock.rung, self.plan.rungs, metric, best, left)


class _TrialWatcher:
    """Passes the progress of a training on as that of its search."""

    def __init__(self, search: Search) -> None:
        self.search = search

    def say(self, text: str) -> None:
        """Keep the messages of single trainings to themselves."""

    def step(self, progress: Progress) -> None:
        self.search.report_step(progress.step / progress.steps)

    def receive_evaluation(self, progress: Progress, measured: Evaluation) -> None: ...
