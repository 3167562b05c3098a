internal import Foundation

/// The storages of cookies, credentials and answers of classes that the program declares. The task waits while one of
/// them is called.
extension TaskLoader {
    /// Asks the storage for the request's cookies, and then runs `next`.
    func askForCookies(_ storage: CookieStorageSubclass, _ next: @escaping () -> Void) {
        attempt.givenCookies = nil
        guard attempt.takesCookies(settings) else { return next() }
        let task = task
        ask { (answer: Answer<[HTTPCookie]>) in
            storage.get(for: task, answer.give)
        } _: { [self] cookies, _ in
            start()
            attempt.givenCookies = HTTPCookie.requestHeaderFields(with: cookies ?? [])["Cookie"]
            next()
        }
    }

    /// Has the storage store an answer's cookies, and then runs `next` with the source as it was.
    func storeCookies(_ cookies: [HTTPCookie], in storage: CookieStorageSubclass, _ next: @escaping () -> Void) {
        let task = task
        ask { (answer: Answer<Void>) in
            storage.store(cookies, for: task) { answer.give(()) }
        } _: { [self] _, held in
            if case .source(let source) = held { load(from: source) }
            let before = course.questions
            next()
            updateFlow()
            guard case .asking(_, .complete) = course.phase, course.questions == before else { return }
            complete()
        }
    }

    /// Asks the storage for the default credential of a space that challenges the task, and then runs `next`.
    func askForCredential(
        _ storage: CredentialStorageSubclass,
        _ space: URLProtectionSpace,
        _ next: @escaping (URLCredential?) -> Void
    ) {
        let task = task
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

    /// Has the storage store the cookies of a switch of protocols, which nothing waits for.
    func storeCookies(ofSwitch response: HTTPURLResponse) {
        guard let storage = settings.cookieSubclass else { return }
        let cookies = attempt.cookies(of: response, settings)
        if !cookies.isEmpty { storage.store(cookies, for: task) {} }
    }
}
