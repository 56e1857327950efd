//! Whether the client that started this program is still there to hear answers.

use std::time::Duration;
use tokio_util::sync::CancellationToken;

const SECOND: Duration = Duration::from_secs(1);

/// Ends when nobody reads standard output any more, or when the process that started this one is gone after the end of input. A
/// launcher that ends while its client still speaks takes nothing along.
#[cfg(unix)]
pub(super) fn left() -> impl FnOnce(CancellationToken) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    let parent = rustix::process::getppid();
    move |ended| {
        Box::pin(async move {
            let orphaned = async {
                ended.cancelled().await;
                while rustix::process::getppid() == parent {
                    tokio::time::sleep(SECOND).await;
                }
            };
            tokio::select! {
                () = unread() => {}
                () = orphaned => {}
            }
        })
    }
}

#[cfg(not(unix))]
pub(super) fn left() -> impl FnOnce(CancellationToken) -> std::future::Pending<()> {
    |_| std::future::pending()
}

/// Ends when the other end of standard output is closed; never where that cannot be told.
#[cfg(unix)]
async fn unread() {
    use std::os::fd::AsFd;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;
    let interest = Interest::WRITABLE | Interest::ERROR;
    let output = std::io::stdout().as_fd().try_clone_to_owned();
    // A file is never closed by anybody else.
    if let Ok(output) = output
        && let Ok(output) = AsyncFd::register_with_interest(output, interest)
    {
        while let Ok(mut guard) = output.ready(interest).await {
            let ready = guard.ready();
            if ready.is_error() || ready.is_write_closed() {
                return;
            }
            // That it can be written to is no news.
            guard.clear_ready();
        }
    }
    std::future::pending().await
}
