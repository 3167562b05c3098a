public import URLLoading

/// The events of the session.
extension TaskDelegate: URLSessionDelegate {
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        core.sessionHooks.didBecomeInvalid?(session, error)
        core.post(TaskNotification.sessionDidInvalidate, session)
    }

    /// Calls the session hook.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        core.sessionHooks.didFinishBackgroundEvents?(session)
    }

    public func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        let answer = await core.sessionHooks.didReceiveChallenge?(session, challenge) ?? .performDefaultHandling
        switch answer.about(space) {
        case .performDefaultHandling:
            // No answer here: the delegate of the task that waits for this server answers.
            DefaultedAnswer.current?.set()
            return (.performDefaultHandling, nil)
        case .useCredential(let credential):
            core.note(nil, of: space)
            return (.useCredential, credential)
        case .rejectProtectionSpace: return (.rejectProtectionSpace, nil)
        case .cancel, .fail:
            core.note(answer.refusal, of: space)
            return (.cancelAuthenticationChallenge, nil)
        }
    }
}

/// The events of every task. The manager's hook is called first, then the task's own, then the request's option. Where
/// an answer is needed, only the first of them that is set is called.
extension TaskDelegate: URLSessionTaskDelegate {
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        core.hooks.didCreate?(session, task)
    }

    /// Tells the task's own hook that the session has the task. The session itself tells only its own delegate.
    func tellCreation(of task: URLSessionTask, in session: URLSession) {
        guard let didCreate = hooks.didCreate else { return }
        session.delegateQueue.addLasting { didCreate(session, task) }
    }

    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        tellDetail(.isWaitingForConnectivity)
        core.hooks.isWaitingForConnectivity?(session, task)
        hooks.isWaitingForConnectivity?(session, task)
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        tellDetail(.redirected(response, request))
        if let hook = core.hooks.willPerformRedirection ?? hooks.willPerformRedirection {
            return await hook(session, task, response, request)
        }
        guard let rule = behavior.redirects ?? core.redirects else { return request }
        return await rule.next(task, request, response)
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        tellDetail(.challenged(space))
        if let hook = core.hooks.didReceiveChallenge ?? hooks.didReceiveChallenge {
            let answer = await hook(session, task, challenge)
            switch answer.about(space) {
            case .performDefaultHandling: break
            case .useCredential(let credential):
                if space.serverTrust != nil { core.note(nil, of: space) }
                return (.useCredential, credential)
            case .rejectProtectionSpace: return (.rejectProtectionSpace, nil)
            case .cancel, .fail: return refused(answer.refusal, space)
            }
        }
        if let trust = space.serverTrust {
            // The policy and its pins judge servers, not proxies.
            guard !space.isProxy() else { return (.performDefaultHandling, nil) }
            if let refusal = core.judge(trust, space.host) { return refused(refusal, space) }
            core.note(nil, of: space)
            return (.useCredential, URLCredential(trust: trust))
        }
        // A credential that the server has refused is not offered again.
        guard let credential, space.takes(credential), space.isProxy() || isFirstOrigin(space, of: task) else {
            return usesCredentialStorage ? (.performDefaultHandling, nil) : (.useCredential, nil)
        }
        return challenge.previousFailureCount == 0 ? (.useCredential, credential) : (.rejectProtectionSpace, nil)
    }

    /// Whether the credential is for this space. It is for the origin of the request, and not for another one that a
    /// redirect leads to, or has led to before the task resumed it.
    private func isFirstOrigin(_ space: URLProtectionSpace, of task: URLSessionTask) -> Bool {
        guard let request = task.originalRequest, !request.hasLeftOrigin else { return false }
        return space.isOrigin(of: request.url)
    }

    /// Stores the refusal by host, because other tasks may wait for the same connection.
    private func refused(
        _ refusal: UncurlError?,
        _ space: URLProtectionSpace
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        ownReason = refusal
        if space.serverTrust != nil { core.note(refusal, of: space) }
        return (.cancelAuthenticationChallenge, nil)
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
    ) { completionHandler(newBodyStream(session, task)) }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStreamFrom offset: Int64,
        completionHandler: @Sendable @escaping (InputStream?) -> Void
    ) { completionHandler(newBodyStream(session, task).map { RestOfStream($0, from: offset) }) }

    private func newBodyStream(_ session: URLSession, _ task: URLSessionTask) -> InputStream? {
        if let hook = core.hooks.needNewBodyStream ?? hooks.needNewBodyStream { return hook(session, task) }
        do {
            return try behavior.newBodyStream?()
        } catch {
            let facts: [String: Any] = [
                NSLocalizedDescriptionKey: "The stream of the request's content could not be made: \(error)",
                NSUnderlyingErrorKey: error as NSError,
            ]
            ownReason = .transport(URLError(.requestBodyStreamExhausted, userInfo: facts))
            return nil
        }
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let bytes = TransferredBytes(bytesSent, totalBytesSent, of: totalBytesExpectedToSend)
        core.hooks.didSendBodyData?(session, task, bytes)
        hooks.didSendBodyData?(session, task, bytes)
        tellSent(totalBytesSent, of: totalBytesExpectedToSend)
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        core.hooks.didReceiveInformationalResponse?(session, task, response)
        hooks.didReceiveInformationalResponse?(session, task, response)
    }

    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        collect(metrics)
        core.hooks.didFinishCollectingMetrics?(session, task, metrics)
        hooks.didFinishCollectingMetrics?(session, task, metrics)
    }

    /// Called for tasks that the manager did not make.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        core.hooks.didComplete?(session, task, error)
        hooks.didComplete?(session, task, error)
        core.postEnd(of: task, reason(for: error as? URLError, of: task), core.takePlace(of: task))
        if self.task === task { open() }
    }
}

extension TaskDelegate: URLSessionDataDelegate {
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        tellDetail(.receivedHead(response))
        if let takesHead = behavior.takesHead, !takesHead(response as? HTTPURLResponse) { return .cancel }
        let disposition: URLSession.ResponseDisposition
        if let hook = core.hooks.didReceiveResponse ?? hooks.didReceiveResponse {
            disposition = await hook(session, dataTask, response)
        } else if let ask = behavior.onResponse, let response = response as? HTTPURLResponse {
            disposition = await ask(response)
        } else {
            return .allow
        }
        switch disposition {
        case .cancel, .allow: return disposition
        // An operation keeps its content itself.
        case .becomeDownload: return behavior.takesContent == nil ? disposition : .allow
        // Nothing of a manager reads a stream task, which would never end.
        case .becomeStream: return .allow
        }
    }

    /// Passes the head of a download's answer to ``RequestOptions/onResponse``, which may end the download.
    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        acceptsDownloadOf response: URLResponse,
        completionHandler: @escaping @Sendable (Bool) -> Void
    ) {
        tellDetail(.receivedHead(response))
        guard let ask = behavior.onResponse, let response = response as? HTTPURLResponse else {
            return completionHandler(true)
        }
        Task { completionHandler(await ask(response) != .cancel) }
    }

    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) {
        becomeDownload(downloadTask)
        core.hooks.didBecomeDownloadTask?(session, dataTask, downloadTask)
        hooks.didBecomeDownloadTask?(session, dataTask, downloadTask)
    }

    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        core.hooks.didReceiveData?(session, dataTask, data)
        hooks.didReceiveData?(session, dataTask, data)
        keep(data)
        behavior.takesContent?(dataTask, data)
    }

    /// Reports the received bytes of an answer that is kept in memory.
    package func urlSession(_ session: URLSession, task: URLSessionTask, didReceive total: Int64, of expected: Int64) {
        tellReceived(total, of: expected)
    }

    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        tellDetail(.willCache(proposedResponse))
        if let hook = core.hooks.willCacheResponse ?? hooks.willCacheResponse {
            return await hook(session, dataTask, proposedResponse)
        }
        guard let rule = behavior.caching ?? core.caching else { return proposedResponse }
        return await rule.stored(dataTask, proposedResponse)
    }
}

extension TaskDelegate: URLSessionDownloadDelegate {
    /// Called for tasks that the manager did not make. `DownloadMove` places the files of the manager's own.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        _ = take(location, of: downloadTask, session)
    }

    package var hearsEnds: Bool { core.settings.didComplete != nil || didComplete != nil || takesDownloads }

    package var takesDownloads: Bool { core.hooks.didFinishDownloading != nil || hooks.didFinishDownloading != nil }

    package func take(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool {
        let (first, own) = (core.hooks.didFinishDownloading, hooks.didFinishDownloading)
        guard first != nil || own != nil else { return false }
        // A hook that returns no place has handled the file itself.
        guard let place = first?(session, task, file) ?? own?(session, task, file) else { return true }
        let move = DownloadMove(core: core, session: session, task: task, own: nil, destination: nil)
        guard move.move(file, to: place, []).isPlaced else { return false }
        core.note(place, of: task)
        return true
    }

    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        let bytes = TransferredBytes(bytesWritten, totalBytesWritten, of: totalBytesExpectedToWrite)
        core.hooks.didWriteData?(session, downloadTask, bytes)
        hooks.didWriteData?(session, downloadTask, bytes)
        tellReceived(totalBytesWritten, of: totalBytesExpectedToWrite)
    }

    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        let offset = ResumedOffset(fileOffset, of: expectedTotalBytes)
        tellDetail(.resumedAtOffset(offset))
        core.hooks.didResumeAtOffset?(session, downloadTask, offset)
        hooks.didResumeAtOffset?(session, downloadTask, offset)
        tellReceived(fileOffset, of: expectedTotalBytes)
    }
}
