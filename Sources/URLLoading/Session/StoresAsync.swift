// Apple's functions that wait, where a handler is called otherwise.

extension URLSession {
    /// Writes the cookies that are in memory alone to disk, and returns once they are there.
    public func flush() async {
        await withCheckedContinuation { continuation in flush { continuation.resume() } }
    }

    /// As `reset(completionHandler:)`: empties the session's stores, and returns once that is done.
    public func reset() async {
        await withCheckedContinuation { continuation in reset { continuation.resume() } }
    }
}

extension URLCache {
    /// What is stored for the task's current request; nil for nothing. Reads the disk on another thread.
    public func cachedResponse(for dataTask: URLSessionDataTask) async -> CachedURLResponse? {
        await withCheckedContinuation { continuation in
            getCachedResponse(for: dataTask) { continuation.resume(returning: $0) }
        }
    }
}

extension HTTPCookieStorage {
    /// The cookies that the task's current request would carry, its main document considered; nil without a URL.
    public func cookies(for task: URLSessionTask) async -> [HTTPCookie]? {
        await withCheckedContinuation { continuation in
            getCookiesFor(task) { continuation.resume(returning: $0) }
        }
    }
}

extension URLCredentialStorage {
    /// By user name; nil if there are none.
    public func credentials(
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask
    ) async -> [String: URLCredential]? {
        credentials(for: protectionSpace)
    }

    /// That of `defaultCredential(for:)`.
    public func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        defaultCredential(for: space)
    }
}
