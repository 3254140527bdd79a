//! Runs a program: one task's place in it.

use super::action::{Action, Overrun};
use super::code::{Code, Instruction};
use machine::{Behaviour, Env, Step};
use scheduler::Nanos;
use std::rc::Rc;

/// A task that runs a [`super::Program`]. Nothing is allocated after its first step, except the boxes that
/// forks, execs and markers hand to the machine.
#[derive(Debug)]
pub struct Interpreter {
    code: Rc<Code>,
    /// The registers, then the time variables.
    numbers: Box<[Nanos]>,
    at: u32,
    started: bool,
}

impl Interpreter {
    pub(super) fn new(code: Rc<Code>) -> Interpreter {
        let numbers = vec![Nanos::ZERO; (code.registers + code.times) as usize].into();
        Interpreter { code, numbers, at: 0, started: false }
    }
}

impl Behaviour for Interpreter {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        let (registers, times) = self.numbers.split_at_mut(self.code.registers as usize);
        if !self.started {
            self.started = true;
            times.fill(env.now);
        }
        loop {
            let instruction = &self.code.instructions[self.at as usize];
            self.at += 1;
            match instruction {
                Instruction::Step(step) => return step.step(),
                Instruction::Exit => {
                    // Stay on it, should anyone ask again.
                    self.at -= 1;
                    return Step::Exit;
                }
                Instruction::Act(action) => {
                    if let Some(step) = act(action, env, times) {
                        return step;
                    }
                }
                Instruction::Load { register, value } => registers[*register as usize] = Nanos(*value),
                Instruction::LoadEnd { register, span } => {
                    registers[*register as usize] = env.now.saturating_add(*span);
                }
                Instruction::LoadDraw { register, dist } => {
                    registers[*register as usize] = dist.draw(env.rng)
                }
                Instruction::ExitAtZero { register, exit } => {
                    match registers[*register as usize].0.checked_sub(1) {
                        Some(left) => registers[*register as usize] = Nanos(left),
                        None => self.at = *exit,
                    }
                }
                Instruction::ExitAtTime { register, exit } => {
                    if env.now >= registers[*register as usize] {
                        self.at = *exit;
                    }
                }
                Instruction::ExitIfRaised { flag, exit } => {
                    if flag.is_raised() {
                        self.at = *exit;
                    }
                }
                Instruction::RunBurst { register, burst } => {
                    let left = &mut registers[*register as usize];
                    let now = burst.draw(env.rng).max(Nanos(1)).min(*left);
                    *left -= now;
                    return Step::Compute(now);
                }
                Instruction::ExitIfUsedUp { register, exit } => {
                    if registers[*register as usize] == Nanos::ZERO {
                        self.at = *exit;
                    }
                }
                Instruction::Jump(to) => self.at = *to,
            }
        }
    }
}

/// Does what takes no time, or says which step it is.
fn act(action: &Action, env: &mut Env<'_>, times: &mut [Nanos]) -> Option<Step> {
    Some(match action {
        Action::Run(dist) => Step::Compute(dist.draw(env.rng)),
        Action::Kernel(dist) => Step::KernelCompute(dist.draw(env.rng)),
        Action::Spin(dist) => Step::SpinUntil(env.now.saturating_add(dist.draw(env.rng))),
        Action::Sleep(dist) => Step::SleepFor(dist.draw(env.rng)),
        Action::SleepUntil(var) => Step::SleepUntil(times[usize::from(var.0)]),
        Action::Fork { child, kind } => Step::Fork { child: Box::new(child.spec()), kind: *kind },
        Action::SetPolicy { target, policy } => {
            Step::SetPolicy { target: target.resolve(env), policy: *policy }
        }
        Action::SetNice { target, nice } => Step::SetNice { target: target.resolve(env), nice: *nice },
        Action::SetAffinity { target, cpus } => {
            Step::SetAffinity { target: target.resolve(env), cpus: Box::new(**cpus) }
        }
        Action::Marker(text) if env.traced => Step::Marker(text.render(*env.iterations)),
        // An empty box: nothing is allocated for a text that nobody reads.
        Action::Marker(_) => Step::Marker(Box::default()),
        Action::Mark(var) => {
            times[usize::from(var.0)] = env.now;
            return None;
        }
        Action::SetTime { var, to } => {
            times[usize::from(var.0)] = *to;
            return None;
        }
        Action::Advance { var, by, overrun } => {
            let time = &mut times[usize::from(var.0)];
            *time = advance(*time, by.draw(env.rng), env.now, *overrun);
            return None;
        }
        Action::Probe { since, recorder } => {
            recorder.record_at(env.now, env.now.saturating_sub(times[usize::from(since.0)]));
            return None;
        }
        Action::Iteration => {
            *env.iterations += 1;
            return None;
        }
        Action::Raise(flag) => {
            flag.raise();
            return None;
        }
        Action::Observe(observer) => {
            observer.observe(env, times);
            return None;
        }
    })
}

fn advance(time: Nanos, by: Nanos, now: Nanos, overrun: Overrun) -> Nanos {
    let next = time.saturating_add(by);
    if next >= now {
        return next;
    }
    match overrun {
        Overrun::CatchUp => next,
        Overrun::Restart => now,
        // A period of zero never reaches the present by itself.
        Overrun::Skip if by == Nanos::ZERO => now,
        Overrun::Skip => next + by * (now - next).0.div_ceil(by.0),
    }
}

#[cfg(test)]
#[path = "interpreter_tests.rs"]
mod tests;
