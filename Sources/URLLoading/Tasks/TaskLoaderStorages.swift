internal import Foundation
internal import UncurlReactor

/// Calls the storages of cookies, credentials and answers whose classes the program declares, and reads the cache's
/// disk. The load waits meanwhile.
extension TaskLoader {
    /// Asks the storage for the cookies of the task's current request, and then runs `next`.
    func ask(_ storage: CookieStorageSubclass, for task: URLSessionTask, _ next: @escaping ([HTTPCookie]) -> Void) {
        ask { (answer: Answer<[HTTPCookie]>) in
            storage.get(for: task, answer.give)
        } _: { [self] cookies, _ in
            start()
            next(cookies ?? [])
        }
    }

    /// Has the storage store an answer's cookies, and then runs `next` with the source as it was.
    func store(
        _ cookies: [HTTPCookie],
        in storage: CookieStorageSubclass,
        for task: URLSessionTask,
        _ next: @escaping () -> Void
    ) {
        wait(next) { answer in
            storage.store(cookies, for: task) { answer.give(()) }
        }
    }

    /// Has the answer to a HEAD compared with what is on disk, and then runs `next` with the source as it was.
    func read(_ comparison: HeadComparison, _ next: @escaping () -> Void) {
        wait(next) { answer in
            // Without a thread to read on, what is stored stays as it is.
            try? SharedLoops.blocking.run(on: engine.loop) {
                comparison.compareAfterReading()
            } then: {
                answer.give(())
            }
        }
    }

    /// Waits until the answer is given, and then runs `next` with the source as it was.
    private func wait(_ next: @escaping () -> Void, for put: (Answer<Void>) -> Void) {
        ask(put) { [self] _, held in
            if case .source(let source) = held { load(from: source) }
            let before = course.questions
            next()
            // `next` may have asked, or have left this answer.
            guard course.questions == before else { return }
            switch course.phase {
            case .loading(.exchange), .asking: goOn(held)
            case .new, .starting, .loading, .draining, .ended: updateFlow()
            }
        }
    }

    /// Asks the storage for the default credential of a space that challenges the task, and then runs `next`.
    func ask(
        _ storage: CredentialStorageSubclass,
        for space: URLProtectionSpace,
        _ task: URLSessionTask,
        _ next: @escaping (URLCredential?) -> Void
    ) {
        ask { (answer: Answer<URLCredential?>) in
            storage.getDefault(for: space, task) { answer.give($0) }
        } _: { stored, _ in
            next(stored ?? nil)
        }
    }

    /// Asks the cache for what it has for the data task, and then runs `next`.
    func ask(_ cache: URLCache, for dataTask: URLSessionDataTask, _ next: @escaping (CachedURLResponse?) -> Void) {
        ask { (answer: Answer<CachedURLResponse?>) in
            cache.load(for: dataTask) { answer.give($0) }
        } _: { [self] found, _ in
            start()
            next(found ?? nil)
        }
    }
}
