internal import HTTPEngine

/// Where the answer of a transaction comes from.
enum Source {
    case exchange(ExchangeID)
    case classLoad(ProtocolLoad)
    case local(LocalLoad)
    case socket(WebSocketLoad)
    case stream(StreamLoad)

    /// What holds a source back.
    struct Holds {
        /// Nothing is to be read: a suspended task, a question, a delegate that is behind.
        var reading: Bool
        /// Nothing is to be sent: a suspended task alone. A delegate that is behind holds the answer, not the request.
        var sending: Bool
    }

    func hold(_ holds: Holds, _ engine: SessionEngine) {
        switch self {
        case .exchange(let id):
            engine.engine.hold(requestOf: id, holds.sending)
            if holds.reading { engine.engine.pause(id) } else { engine.engine.resume(id) }
        case .classLoad(let load): load.hold(holds.reading)
        case .local(let load): load.hold(holds.reading)
        case .socket(let load): load.hold(reading: holds.reading, sending: holds.sending)
        case .stream(let load): load.hold(reading: holds.reading, sending: holds.sending)
        }
    }

    /// Nothing more is heard of it.
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

/// What stands still behind a question to the user.
enum Held {
    case nothing
    case source(Source)
    /// The answer came to its end meanwhile: it was short.
    case complete
}
