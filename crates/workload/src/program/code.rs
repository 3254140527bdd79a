//! From the tree to a flat list of instructions, so that a step costs a few jumps and no recursion.

use super::action::Action;
use super::block::{Block, Op, Times};
use super::interpreter::Interpreter;
use crate::dist::Dist;
use crate::flag::Flag;
use machine::LoneStep;
use scheduler::Nanos;
use std::rc::Rc;

/// A checked program. Cloning it shares the code; each [`Program::start`] is a task of its own.
#[derive(Clone, Debug)]
pub struct Program(Rc<Code>);

/// A block that cannot be a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramError {
    /// Such a task would spin without virtual time ever passing.
    #[error("a pass of the loop `{times}` may take no step: put a run, a sleep or another step into it")]
    LoopWithoutStep {
        /// Which loop.
        times: String,
    },
}

impl Program {
    /// Checks and flattens a block.
    pub fn new(block: Block) -> Result<Program, ProgramError> {
        let mut draft = Draft::default();
        draft.append(&block)?;
        draft.instructions.push(Instruction::Exit);
        let Draft { instructions, registers, times } = draft;
        // As small as can be: loads of a hundred thousand tasks have as many programs.
        Ok(Program(Rc::new(Code { instructions: instructions.into(), registers, times })))
    }

    /// A task at the start of this program.
    pub fn start(&self) -> Interpreter {
        Interpreter::new(self.0.clone())
    }
}

#[derive(Debug)]
pub(super) struct Code {
    pub instructions: Box<[Instruction]>,
    /// Numbers that the instructions use: loop counters, ends of loops, work left.
    pub registers: u32,
    /// Time variables that the actions use.
    pub times: u32,
}

/// Code that is not finished.
#[derive(Default)]
struct Draft {
    instructions: Vec<Instruction>,
    registers: u32,
    times: u32,
}

#[derive(Debug)]
pub(super) enum Instruction {
    /// In a box, which makes all others half as large: there are very many.
    Step(Box<LoneStep>),
    Exit,
    Act(Action),
    /// register = value
    Load {
        register: u32,
        value: u64,
    },
    /// register = now + span
    LoadEnd {
        register: u32,
        span: Nanos,
    },
    /// register = a draw
    LoadDraw {
        register: u32,
        dist: Dist,
    },
    /// Go to `exit` if the register is zero, else count it down.
    ExitAtZero {
        register: u32,
        exit: u32,
    },
    /// Go to `exit` if the time in the register has come.
    ExitAtTime {
        register: u32,
        exit: u32,
    },
    /// Go to `exit` if the flag is raised.
    ExitIfRaised {
        flag: Flag,
        exit: u32,
    },
    /// Run a burst, at most what the register says is left; take it off.
    RunBurst {
        register: u32,
        burst: Dist,
    },
    /// Go to `exit` if the register is zero.
    ExitIfUsedUp {
        register: u32,
        exit: u32,
    },
    Jump(u32),
}

impl Draft {
    fn append(&mut self, block: &Block) -> Result<(), ProgramError> {
        for op in &block.0 {
            match op {
                Op::Step(LoneStep::Exit) => self.instructions.push(Instruction::Exit),
                Op::Step(step) => self.instructions.push(Instruction::Step(Box::new(step.clone()))),
                Op::Do(action) => {
                    if let Some(var) = action.time_var() {
                        self.times = self.times.max(u32::from(var.0) + 1);
                    }
                    self.instructions.push(Instruction::Act(action.clone()));
                }
                Op::Loop { times, body } => self.append_loop(times, body)?,
                Op::Bursts { total, burst, gap } => self.append_bursts(total, burst, gap),
            }
        }
        Ok(())
    }

    fn append_loop(&mut self, times: &Times, body: &Block) -> Result<(), ProgramError> {
        if !takes_a_step(body) {
            return Err(ProgramError::LoopWithoutStep { times: format!("{times:?}") });
        }
        // The exit is not known before the body is.
        let exit = u32::MAX;
        let head = match times {
            Times::Forever => {
                let start = self.next();
                self.append(body)?;
                self.instructions.push(Instruction::Jump(start));
                return Ok(());
            }
            Times::Count(count) => {
                let register = self.register();
                self.instructions.push(Instruction::Load { register, value: *count });
                Instruction::ExitAtZero { register, exit }
            }
            Times::For(span) => {
                let register = self.register();
                self.instructions.push(Instruction::LoadEnd { register, span: *span });
                Instruction::ExitAtTime { register, exit }
            }
            Times::Until(time) => {
                let register = self.register();
                self.instructions.push(Instruction::Load { register, value: time.0 });
                Instruction::ExitAtTime { register, exit }
            }
            Times::UntilRaised(flag) => Instruction::ExitIfRaised { flag: flag.clone(), exit },
        };
        let start = self.next();
        self.instructions.push(head);
        self.append(body)?;
        self.instructions.push(Instruction::Jump(start));
        self.set_exit(start);
        Ok(())
    }

    fn append_bursts(&mut self, total: &Dist, burst: &Dist, gap: &Dist) {
        let register = self.register();
        self.instructions.push(Instruction::LoadDraw { register, dist: total.clone() });
        let start = self.next();
        self.instructions.push(Instruction::RunBurst { register, burst: burst.clone() });
        let check = self.next();
        self.instructions.push(Instruction::ExitIfUsedUp { register, exit: u32::MAX });
        self.instructions.push(Instruction::Act(Action::Sleep(gap.clone())));
        self.instructions.push(Instruction::Jump(start));
        self.set_exit(check);
    }

    /// Number of the next instruction.
    fn next(&self) -> u32 {
        self.instructions.len() as u32
    }

    fn register(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }

    fn set_exit(&mut self, head: u32) {
        let end = self.next();
        match &mut self.instructions[head as usize] {
            Instruction::ExitAtZero { exit, .. }
            | Instruction::ExitAtTime { exit, .. }
            | Instruction::ExitIfRaised { exit, .. }
            | Instruction::ExitIfUsedUp { exit, .. } => *exit = end,
            other => unreachable!("{other:?} has no exit"),
        }
    }
}

/// Whether every pass through the block takes at least one step.
fn takes_a_step(block: &Block) -> bool {
    block.0.iter().any(|op| match op {
        Op::Step(_) | Op::Bursts { .. } => true,
        Op::Do(action) => action.takes_a_step(),
        Op::Loop { times, body } => {
            let once = match times {
                Times::Count(count) => *count > 0,
                Times::For(span) => *span > Nanos::ZERO,
                Times::Forever => true,
                Times::Until(_) | Times::UntilRaised(_) => false,
            };
            once && takes_a_step(body)
        }
    })
}
