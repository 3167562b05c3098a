import UncurlReactor

/// The server that does as the targets say. One loop; keeps nothing but which POSTs it has seen.
final class Peer {
    let loop: EventLoop
    var dice = Dice(seed: 99)
    private var listener: Listener?
    private var seen: Set<UInt64> = []
    private(set) var posts = 0
    private(set) var repeated = 0

    init(on loop: EventLoop) throws {
        self.loop = loop
        // On every address of the loopback: each gives the client as many ports again.
        guard let anywhere = SocketAddress(numericHost: "0.0.0.0", port: 0) else { throw Errno.invalidArgument }
        listener = try Listener(on: loop, at: anywhere) { [unowned self] socket in
            PeerConnection(socket, peer: self).start()
        }
    }

    var port: UInt16 { listener?.address.port ?? 0 }

    func note(post id: UInt64) {
        posts += 1
        if !seen.insert(id).inserted { repeated += 1 }
    }
}

/// One connection: request after request. The loop keeps it while it is registered.
final class PeerConnection: ReadinessHandler, TimerHandler {
    /// What to do when everything is sent.
    private enum After { case goOn, finish, reset, close, stall, closeSoon }

    private let peer: Peer
    private var socket: Socket?
    private var token: Token?
    private var timer: TimerID?
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sent = 0
    private var late: [UInt8] = []
    private var after = After.goOn
    /// Nothing more is said; what comes is read away until the client ends it.
    private var isOver = false

    init(_ socket: consuming Socket, peer: Peer) {
        self.peer = peer
        self.socket = consume socket
    }

    func start() {
        guard let number = socket?.number else { return }
        socket?.disableNagle()
        token = try? peer.loop.register(number, [.read, .peerFinish], self)
    }

    func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { flush() }
        guard token != nil, !readiness.isDisjoint(with: [.readable, .peerFinished, .hungUp, .failed]) else { return }
        do throws(Errno) {
            guard let read = try socket?.read(into: peer.loop.readBuffer) else { return }
            switch read {
            case .wouldBlock: return
            case .endOfStream: return end()
            case .bytes(let count):
                peer.loop.readBuffer.withBytes(count) { bytes in
                    for index in bytes.indices { input.append(bytes[index]) }
                }
            }
        } catch {
            return end()
        }
        serve()
    }

    func timerFired(_ id: TimerID) {
        timer = nil
        if case .closeSoon = after { return end() }
        output += late
        late = []
        flush()
    }

    /// The requests that have come completely, one after the other.
    private func serve() {
        while isOver, let request = takeRequest() {
            // Taken and never answered: it has reached us all the same.
            if case .post = request.deed { peer.note(post: request.id) }
        }
        while !isOver, output.isEmpty, late.isEmpty, let request = takeRequest() { answer(request) }
    }

    private struct Request {
        var deed: Deed
        var id: UInt64
        var size: Int
        var offset: Int
    }

    /// The client is ours: what it sends is well formed.
    private func takeRequest() -> Request? {
        let mark = Array("\r\n\r\n".utf8)
        guard let end = input.firstRange(of: mark) else { return nil }
        let head = String(decoding: input[..<end.lowerBound], as: UTF8.self)
        var length = 0
        if let field = head.firstRange(of: "Content-Length: ") {
            length = Int(head[field.upperBound...].prefix { $0.isNumber }) ?? 0
        }
        guard input.count >= end.upperBound + length else { return nil }
        input.removeFirst(end.upperBound + length)
        let words = head.split(separator: " ", maxSplits: 2)
        let parts = words.count > 1 ? words[1].split(separator: "/") : []
        let number = { (index: Int) in index < parts.count ? Int(parts[index]) ?? 0 : 0 }
        let deed = parts.first.flatMap { Deed(rawValue: String($0)) } ?? .length
        return Request(deed: deed, id: UInt64(number(1)), size: number(2), offset: number(3))
    }

    private func answer(_ request: Request) {
        let message = Message(request.deed, Pattern(id: request.id), size: request.size)
        var bytes = message.bytes
        after = .goOn
        switch request.deed {
        case .length, .chunks: break
        case .stray, .close: after = .close
        case .slow:
            late = Array(bytes[(bytes.count / 2)...])
            bytes.removeLast(late.count)
            timer = peer.loop.arm(at: peer.loop.now.advanced(by: .milliseconds(peer.dice.below(50))), self)
        case .fin, .reset, .stall:
            bytes = Array(bytes.prefix(request.offset))
            after = request.deed == .fin ? .finish : request.deed == .reset ? .reset : .stall
        case .race: after = [.close, .closeSoon, .goOn][peer.dice.below(3)]
        case .post:
            peer.note(post: request.id)
            if peer.dice.chance(25) { bytes = [] }
            after = [.close, .closeSoon, .goOn][bytes.isEmpty ? 0 : peer.dice.below(3)]
        }
        output = bytes
        sent = 0
        flush()
    }

    private func flush() {
        do throws(Errno) {
            while sent < output.count {
                guard let count = try socket?.write(output.span.extracting(sent...)) else {
                    if let token { try peer.loop.setInterest(token, [.read, .peerFinish, .write]) }
                    return
                }
                sent += count
            }
            if let token { try peer.loop.setInterest(token, [.read, .peerFinish]) }
        } catch {
            return end()
        }
        output = []
        sent = 0
        if late.isEmpty { conclude() }
    }

    private func conclude() {
        switch after {
        case .goOn: serve()
        case .finish:
            isOver = true
            socket?.shutdownWrite()
        case .stall: isOver = true
        case .reset:
            socket?.resetOnClose()
            end()
        case .close: end()
        case .closeSoon:
            guard timer == nil else { return }
            timer = peer.loop.arm(at: peer.loop.now.advanced(by: .milliseconds(peer.dice.below(20))), self)
            isOver = true
            serve()
        }
    }

    private func end() {
        if let timer { peer.loop.cancel(timer) }
        if let token = token.take() { peer.loop.deregister(token) }
        timer = nil
        socket = nil
    }
}
