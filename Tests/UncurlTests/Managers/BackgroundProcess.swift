import Foundation
import Glibc
import Uncurl

/// What the child processes of tests of background managers do.
enum BackgroundProcess {
    /// A folder of a test, removed with its owner.
    final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "background-\(UUID().uuidString)").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Of everything below it.
        var names: [String] { BackgroundProcess.names(in: path) }
    }

    private static func names(in folder: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String]
        return (all ?? []).map { ($0 as NSString).lastPathComponent }.sorted()
    }

    /// The number of tasks in the journal of this folder.
    static func records(in folder: String) -> Int { names(in: folder).count { $0.hasSuffix(".task") } }

    /// The manager of this process. Its journal is in the folder.
    static func manager(
        in folder: String,
        hooks: TaskHooks = TaskHooks(),
        sessionHooks: SessionHooks = SessionHooks()
    ) -> HTTPSessionManager {
        setenv("XDG_STATE_HOME", folder, 1)
        // A child that hangs is ended, and its test fails.
        alarm(280)
        let configuration = URLSessionConfiguration.background(withIdentifier: "test")
        configuration.connectionProxyDictionary = [:]
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        return HTTPSessionManager(configuration: configuration, hooks: hooks, sessionHooks: sessionHooks)
    }

    /// Never returns: the parent ends the process.
    static func waitForEnd() async {
        for await _ in AsyncStream<Never>(unfolding: { await withUnsafeContinuation { _ in } }) {}
    }

    static func die() { kill(getpid(), SIGKILL) }
}
