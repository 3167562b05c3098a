// Apple's asynchronous functions for methods that take a completion handler.

extension URLSession {
    /// Writes cookies that are only in memory to disk. Returns when that is done.
    public func flush() async {
        await withCheckedContinuation { continuation in flush { continuation.resume() } }
    }

    /// Empties the session's stores, as `reset(completionHandler:)`. Returns when that is done.
    public func reset() async {
        await withCheckedContinuation { continuation in reset { continuation.resume() } }
    }
}

extension URLCache {
    /// Returns what is stored for the task's current request; nil for nothing. Reads the disk on another thread.
    public func cachedResponse(for dataTask: URLSessionDataTask) async -> CachedURLResponse? {
        await withCheckedContinuation { continuation in
            getCachedResponse(for: dataTask) { continuation.resume(returning: $0) }
        }
    }
}

extension HTTPCookieStorage {
    /// Returns the cookies that the task's current request would carry, given its main document; nil without a URL.
    public func cookies(for task: URLSessionTask) async -> [HTTPCookie]? {
        await withCheckedContinuation { continuation in
            getCookiesFor(task) { continuation.resume(returning: $0) }
        }
    }
}

extension URLCredentialStorage {
    /// Returns the credentials of `getCredentials(for:task:completionHandler:)`, by user name; nil if there are none.
    public func credentials(
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask
    ) async -> [String: URLCredential]? {
        var found: [String: URLCredential]?
        getCredentials(for: protectionSpace, task: task) { found = $0 }
        return found
    }

    /// Returns the credential of `getDefaultCredential(for:task:completionHandler:)`.
    public func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        var found: URLCredential?
        getDefaultCredential(for: space, task: task) { found = $0 }
        return found
    }
}
