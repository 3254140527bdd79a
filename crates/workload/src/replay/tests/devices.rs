//! Waits for devices.

use super::check;

#[test]
fn what_an_interrupt_ends_in_state_d_began_when_the_task_asked() {
    check(
        "0   0 idle R dd
         40  0 dd D idle
         140 0 irq@idle wakes dd
         150 0 idle R dd
         160 0 dd S idle
         190 0 irq@idle wakes dd
         195 0 idle R dd
         199 0 dd S idle",
        // A sleep in state S may wait for anybody: it ends when it ended.
        &[
            "dd runnable on 0: 40, ask for 100 for dd, sleep till served, 10, sleep till irq at 190, 4, sleep on",
        ],
    );
}

#[test]
fn a_thread_of_the_kernel_that_an_interrupt_wakes_for_the_task_is_the_answer() {
    let kworker = "0   0 idle R dd
         40  0 dd D idle
         140 0 irq@idle wakes kworker
         150 0 idle R kworker
         160 0 kworker wakes dd
         170 0 kworker I dd
         180 0 dd S idle
         240 0 irq@idle wakes kworker
         250 0 idle R kworker
         270 0 kworker I idle";
    let begun = kworker.replacen("0   0 idle R dd", "0   0 idle R kworker\n 10  0 kworker I dd", 1);
    check(
        &begun,
        &[
            // Its second wakeup was for nobody who waited.
            "kworker runnable on 0: 10, sleep till served, 10, wake dd, 10, sleep till irq at 240, 20, sleep on",
            "dd runnable on 0: 30, ask for 100 for kworker, sleep, 10, sleep on",
        ],
    );
}

#[test]
fn a_worker_that_was_up_before_the_task_asked_is_no_answer() {
    check(
        "0   1 idle R kworker
         5   1 kworker I idle
         10  1 irq@idle wakes kworker
         12  1 idle R kworker
         20  0 idle R dd
         40  0 dd D idle
         60  1 kworker wakes dd on 0
         70  1 kworker I idle
         80  0 idle R dd
         90  0 dd S idle",
        &[
            "kworker runnable on 1: 5, sleep till irq at 10, 48, wake dd elsewhere, 10, sleep on",
            "dd runnable on 0: 20, sleep, 10, sleep on",
        ],
    );
}
