//! A bar for what takes longer than a second, on standard error where that is a terminal; nothing elsewhere.

use std::io::{IsTerminal, stderr};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Before it nothing is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is being done, and how far it is.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Begins something of `steps` steps; 0 where they cannot be counted.
    pub(super) fn begin(what: &'static str, steps: u64) -> Progress {
        let (length, template) = if steps == 0 {
            (None, "{msg} {spinner} {elapsed}")
        } else {
            (Some(steps), "{msg} {wide_bar} {pos}/{len} {elapsed}")
        };
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden()).with_message(what);
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            // The templates are our own; without them the bar is only plainer.
            Err(_) => bar,
        };
        if stderr().is_terminal() {
            let later = bar.clone();
            thread::spawn(move || {
                thread::sleep(PATIENCE);
                if !later.is_finished() {
                    later.set_draw_target(ProgressDrawTarget::stderr());
                    later.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        Progress(bar)
    }

    /// Some steps more are done.
    pub(super) fn advance(&self, steps: u64) {
        self.0.inc(steps);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
