internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import Synchronization
internal import TLS

/// What a load in a background session does besides: it keeps what it needs to go on in another process, and tries again.
extension TaskLoad {
    /// Content that is coded on its way cannot be gone on from: lengths are then those of the coded form.
    func prepared(_ request: URLRequest) -> URLRequest {
        guard background != nil, task is URLSessionDownloadTask, !request.decidesOnCoding else { return request }
        var request = request
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return request
    }

    /// A file in the session's folder, known to the record before the process can end.
    func makeFile() throws(URLError) -> DownloadFile {
        let path = background?.freshPart(of: task)
        let file = try DownloadFile(for: request.url, at: path, makingRoom: { engine.engine.makeRoom() })
        file.total = response?.expectedContentLength ?? -1
        guard let background, let path else { return file }
        file.beginLedger(at: engine.loop.now)
        let part = BackgroundRecord.Part(
            path: path,
            validator: validator,
            expected: file.total,
            boot: BackgroundFolder.boot
        )
        background.note(task, response as? HTTPURLResponse, part: part)
        return file
    }

    /// How much of the resource's time is left: it has begun with the first process.
    func resourceTime(_ whole: TimeInterval) -> TimeInterval {
        guard let begun = background?.record(of: task)?.begun, whole > 0 else { return whole }
        return max(0.001, whole + begun.timeIntervalSinceNow)
    }

    /// True if the load will try again instead of failing: with the bytes that it has, if the server lets it.
    func isTriedAgain(after error: EngineError) -> Bool {
        guard background?.record(of: task) != nil, error.mayPass else { return false }
        guard let request = order.request else { return false }
        // An answer that has been told cannot be told again; nor is content sent twice that the server has answered.
        if task is URLSessionUploadTask, task.response != nil { return false }
        keepForNextTry()
        (redirects, sendsContent, dropsContent) = (0, true, false)
        (challenges, isAmongStrangers) = (ChallengeProgress(), false)
        (response, transaction, resumed, hasStartedOver) = (nil, nil, nil, false)
        task.snapshot.withLock { $0.response = nil }
        let timer = engine.loop.arm(
            at: engine.loop.now.advanced(by: connectivity.next()),
            Alarm { [weak self] in
                guard let self, case .starting = phase else { return }
                phase = .starting(nil)
                startFromDisk(request)
            }
        )
        phase = .starting(timer)
        return true
    }

    private func keepForNextTry() {
        guard case .file(let file) = sink else { return }
        sink = .none
        let validator = validator
        let isOfUse = file.written > 0 && validator != nil
        file.finish(keeping: isOfUse)
        guard let validator, isOfUse, let url = order.request?.url else {
            resumption = nil
            return
        }
        resumption =
            ResumeData(
                url: url,
                fields: [:],
                validator: validator,
                path: file.url.path,
                received: file.written,
                expected: file.total,
                sum: file.sum.map { .known($0) } ?? .none
            ).askable
    }
}

extension EngineError {
    /// Of the network's kind, which another try may not meet. What the server or its certificate says, it would say again.
    fileprivate var mayPass: Bool {
        switch self {
        case .connect, .timedOut, .closedWhileOpening, .closedBeforeResponse, .uploadAborted, .truncatedHead,
            .truncatedBody, .connectionLost, .sendFailed, .system, .tls(.truncated), .tls(.closedInHandshake),
            .proxy(.unreachable):
            true
        case .invalidRequest, .tls, .proxy, .unsolicitedBytes, .malformedResponse, .unexpectedUpgrade, .undecodable,
            .bodyLengthMismatch, .bodyFailed, .bodyUnreadable, .bodyFileReplaced, .bodySourceFailed, .cancelled,
            .shutDown:
            false
        }
    }
}
