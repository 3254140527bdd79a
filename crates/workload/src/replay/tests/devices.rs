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
        &["dd runnable on 0: 40, ask for 100 for dd, sleep till served, 10, sleep till irq at 190, 4, \
             sleep on"],
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
            "kworker runnable on 0: 10, sleep till served, 10, wake dd, 10, sleep till irq at 240, 20, sleep \
             on",
            "dd runnable on 0: 30, ask for 100 for kworker, sleep, 10, sleep on",
        ],
    );
}

#[test]
fn a_worker_that_is_up_before_the_task_sleeps_answers_at_once() {
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
            "kworker runnable on 1: 5, sleep till served, 48, wake dd elsewhere, 10, sleep on",
            "dd runnable on 0: 20, ask for 0 for kworker, sleep, 10, sleep on",
        ],
    );
}

#[test]
fn a_worker_has_a_piece_of_work_for_each_who_asks() {
    // Task a asks first and b is answered first.
    check(
        "0   0 idle R kworker/0:1
         5   0 kworker/0:1 I a
         20  0 a D b
         30  0 b D idle
         50  0 irq@idle wakes kworker/0:1
         55  0 idle R kworker/0:1
         60  0 kworker/0:1 wakes b
         65  0 kworker/0:1 I b
         70  0 b S idle
         90  0 idle R c
         95  0 c wakes kworker/0:1
         97  0 c S kworker/0:1
         99  0 kworker/0:1 wakes a
         105 0 kworker/0:1 I a
         110 0 a S idle",
        &[
            "kworker/0:1 runnable on 0: 5, work 0 when served, 5, wake b, 5, work 1, 2, wake a, 6, sleep on",
            "a runnable on 0: 15, sleep, 5, sleep on",
            "b runnable on 0: 10, ask for 20 for kworker/0:1 for 0, sleep, 5, sleep on",
            "c runnable on 0: 5, wake kworker/0:1 for 1, 2, sleep on",
        ],
    );
}
