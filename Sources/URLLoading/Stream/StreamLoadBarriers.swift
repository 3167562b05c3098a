internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics

/// What a stream task does between what was asked for before and what is asked for later.
extension StreamLoad {
    func perform(_ wish: StreamWish) {
        switch wish {
        case .closeRead:
            guard reading != .closed else { return }
            let wasOpen = reading == .open
            (reading, input) = (.closed, [])
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
        // A FIN behind half of a write would make it look whole.
        if case .open(let connection) = state, writing == .open { connection.finishWriting(keepsReading: true) }
        writing = .closed
        guard let load, let task = load.task as? URLSessionStreamTask else { return }
        load.tell(.stream) { session, _, delegate in
            (delegate as? any URLSessionStreamDelegate)?.urlSession(session, writeClosedFor: task)
        }
    }

    private func secure() {
        guard let load else { return }
        guard case .open(let connection) = state, reading == .open, writing == .open else {
            let reason = "there is no connection left to secure"
            return load.end(ErrorTranslation.urlError(.secureConnectionFailed, nil, reason))
        }
        do {
            // What was HTTP goes on with the host it was asked for.
            let place = try (load.task as? URLSessionStreamTask)?.place?.origin() ?? load.origin
            guard let origin = place else { return }
            let options = try load.engine.streamOptions(securing: true)
            let rest = input
            input = []
            state = .securing(
                load.engine.engine.secure(connection, as: origin, having: rest, options: options) { [weak self] in
                    self?.opened($0)
                }
            )
        } catch {
            load.end(ErrorTranslation.urlError(.secureConnectionFailed, nil, error))
        }
    }

    private func capture() {
        guard let load else { return }
        guard case .open(let connection) = state else {
            let reason = "there is no connection to capture"
            return load.end(ErrorTranslation.urlError(.networkConnectionLost, nil, reason))
        }
        state = .closed
        let rest = input
        input = []
        let streams = CapturedStreams(
            connection,
            having: rest,
            isReadable: reading == .open,
            isWritable: writing == .open
        )
        load.end(nil, handingOver: streams)
    }
}
