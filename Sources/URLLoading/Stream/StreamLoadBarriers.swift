internal import Foundation
internal import UncurlEngine
internal import UncurlSemantics

/// The wishes of a stream task that take effect after all earlier wishes and before all later ones.
extension StreamLoad {
    func perform(_ wish: StreamWish) {
        switch wish {
        case .closeRead:
            guard reading != .closed else { return }
            let wasOpen = reading == .open
            (reading, input) = (.closed, OctetQueue())
            if wasOpen { tellReadClosed() }
        case .closeWrite: closeWriting()
        case .stopSecurity: if isSecure { closeWriting() }
        case .startSecurity: if !isSecure { secure() }
        case .capture: capture()
        case .read, .write: break
        }
    }

    private var isSecure: Bool {
        if case .open(let connection) = state { connection.record.security != nil } else { false }
    }

    private func closeWriting() {
        guard writing != .closed else { return }
        // A FIN after half of a write would make it look complete.
        if case .open(let connection) = state, writing == .open { connection.finishWriting(keepsReading: true) }
        writing = .closed
        guard let delegate, let task = delegate.task as? URLSessionStreamTask else { return }
        delegate.tell(.stream) { session, _, delegate in
            session.recipient(delegate, as: (any URLSessionStreamDelegate).self)?
                .urlSession(session, writeClosedFor: task)
        }
    }

    private func secure() {
        guard let delegate else { return }
        guard case .open(let connection) = state, reading == .open, writing == .open else {
            let reason = "there is no connection left to secure"
            return delegate.end(ErrorTranslation.urlError(.secureConnectionFailed, nil, reason))
        }
        do {
            guard let origin else { return }
            let options = try engine.streamOptions(to: origin, of: delegate, isSecured: true)
            let rest = input.rest
            input = OctetQueue()
            state = .securing(
                engine.engine.secure(connection, as: origin, having: rest, options: options) { [weak self] in
                    self?.opened($0)
                }
            )
        } catch {
            delegate.end(ErrorTranslation.urlError(.secureConnectionFailed, nil, error))
        }
    }

    private func capture() {
        guard let delegate else { return }
        guard case .open(let connection) = state else {
            let reason = "there is no connection to capture"
            return delegate.end(ErrorTranslation.urlError(.networkConnectionLost, nil, reason))
        }
        state = .closed
        let rest = input.rest
        input = OctetQueue()
        let streams = CapturedStreams(
            connection,
            having: rest,
            isReadable: reading == .open,
            isWritable: writing == .open
        )
        delegate.end(handingOver: streams)
    }
}
