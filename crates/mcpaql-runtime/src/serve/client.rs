//! Detects whether the client that started this program can still receive answers.

use tokio_util::sync::CancellationToken;

#[cfg(unix)]
const SECOND: std::time::Duration = std::time::Duration::from_secs(1);

/// Completes when standard output is closed, or when the parent process is gone after the end of input. A parent that
/// exits while the client still sends input, such as a launcher, does not count.
#[cfg(unix)]
pub(super) fn client_gone()
-> impl FnOnce(CancellationToken) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
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
                () = stdout_closed() => {}
                () = orphaned => {}
            }
        })
    }
}

#[cfg(not(unix))]
pub(super) fn client_gone() -> impl FnOnce(CancellationToken) -> std::future::Pending<()> {
    |_| std::future::pending()
}

/// Completes when the other end of standard output is closed; never if that cannot be detected.
#[cfg(unix)]
async fn stdout_closed() {
    use std::os::fd::AsFd;
    use tokio::io::Interest;
    use tokio::net::unix::pipe::Sender;
    // Unchecked, because the check would require a mode of standard output that others set; nothing is written here.
    if let Ok(output) = std::io::stdout().as_fd().try_clone_to_owned()
        && let Ok(output) = Sender::from_owned_fd_unchecked(output)
        && output.ready(Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
