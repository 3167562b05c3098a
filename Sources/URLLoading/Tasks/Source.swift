internal import UncurlEngine

/// The source of an answer.
enum Source {
    case exchange(ExchangeID)
    case classLoad(ProtocolLoad)
    case local(LocalLoad)
    case socket(WebSocketLoad)
    case stream(StreamLoad)

    /// What holds a source back.
    struct Holds {
        /// Whether nothing is to be read: for a suspended task, an open question, or a delegate that is behind.
        var reading: Bool
        /// Whether nothing is to be sent: only for a suspended task. A delegate that is behind delays the answer, not
        /// the request.
        var sending: Bool
        /// What the connection waits for on the program's side.
        var rest = Rest.none
    }

    /// Whether it is read while a question is open, up to ``Course/most``: its connection is then free for what the
    /// answer to the question may need.
    var isReadAhead: Bool {
        switch self {
        case .exchange: true
        case .classLoad, .local, .socket, .stream: false
        }
    }

    func hold(_ holds: Holds, _ engine: SessionEngine) {
        switch self {
        case .exchange(let id):
            engine.engine.rest(id, for: holds.rest)
            engine.engine.hold(requestOf: id, holds.sending)
            if holds.reading { engine.engine.pause(id) } else { engine.engine.resume(id) }
        case .classLoad(let load): load.hold(holds.reading)
        case .local(let load): load.hold(holds.reading)
        case .socket(let load): load.hold(reading: holds.reading, sending: holds.sending)
        case .stream(let load): load.hold(reading: holds.reading, sending: holds.sending)
        }
    }

    /// Drops the source: it reports nothing more.
    func drop(_ engine: SessionEngine) {
        switch self {
        case .exchange(let id): engine.engine.cancel(id)
        case .classLoad(let load): load.stop()
        case .local(let load): load.stop()
        case .socket(let load): load.stop()
        case .stream(let load): load.stop()
        }
    }
}

/// What is held back by a question to the program.
enum Held {
    case nothing
    case source(Source)
    /// The answer ended meanwhile: it was short, or broke off. The function handles the end.
    case ended(() -> Void)
}
