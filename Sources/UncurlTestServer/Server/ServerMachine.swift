internal import UncurlHTTP1
import UncurlText
internal import UncurlWebSocket

/// The server's side of a connection, without the socket: octets come in, octets and needs go out.
///
///     head ──▶ collecting ──▶ answering ──▶ head        the body has come; the response is out, the connection goes on
///       │  └─▶ echoing ─────────────────▶ head          the response goes along with the request's body
///       │         answering ──▶ waiting ──▶ answering   a delay, a pause between pieces, /freeze
///       │         answering ──▶ silent                  /never
///       │         answering ──▶ talking ──▶ over        /websocket: no more HTTP
///       └──▶ over                                       a refusal, a last response, a fault on demand; nothing follows
///
/// `answering` begins when the request has been read completely, so a pipelined request is not parsed before the one
/// before it is answered (RFC 9112 §9.3.2). `silent` and `over` are final: no octet may follow.
struct ServerMachine: ~Copyable {
    private enum State {
        case head
        case collecting(ServerExchange)
        case echoing(ServerExchange, chunked: Bool)
        case waiting(ServerExchange, RouteResponse)
        case answering(ServerExchange, BodyGenerator)
        case silent
        case talking(ServerTalk)
        case over(Ending)
    }

    private var parser: RequestParser
    private var state = State.head
    /// Octets that came while a response was due: at most one read, because reading stops meanwhile.
    private var held: [UInt8] = []
    private var heldStart = 0

    init(limits: ParserLimits) { parser = RequestParser(limits: limits) }

    /// Whether no part of a request has come and no response is due.
    var isIdle: Bool {
        switch state {
        case .head: parser.isBetweenMessages
        // No client waits for an answer.
        case .talking: true
        case .collecting, .echoing, .waiting, .answering, .silent, .over: false
        }
    }

    // MARK: Events

    /// Handles received octets. Called only when the last need was `.input`.
    mutating func receive(_ input: Span<UInt8>, _ shared: ServerScratch, _ origin: () -> String) -> Need {
        var position = 0
        let need = advance(input, &position, shared, origin)
        if position < input.count {
            switch need {
            case .input, .room, .time, .freeze:
                held.append(input.extracting(position...))
            case .nothing, .end:
                break
            }
        }
        return need
    }

    /// Called when the output has been sent or the time is over.
    mutating func resume(_ shared: ServerScratch, _ origin: () -> String) -> Need {
        var octets: [UInt8] = []
        swap(&octets, &held)
        var position = heldStart
        let need = advance(octets.span, &position, shared, origin)
        if position < octets.count {
            heldStart = position
            swap(&octets, &held)
        } else {
            heldStart = 0
        }
        return need
    }

    /// Called when nothing has moved for the idle time. An incomplete request is answered 408 (RFC 9110 §15.5.9); an
    /// idle connection just ends.
    mutating func timeOut(_ shared: ServerScratch) -> Need {
        switch state {
        case .head where !parser.isBetweenMessages, .collecting:
            return refuse(408, "the request did not come to its end in time", shared)
        case .head, .echoing, .waiting, .answering, .silent, .talking, .over:
            return .end(.close)
        }
    }

    /// Releases the memory of a head in pieces, because an idle connection may stay open for long.
    mutating func releaseStorage() { parser.releaseStorage() }

    // MARK: Requests

    private mutating func advance(
        _ input: Span<UInt8>,
        _ position: inout Int,
        _ shared: ServerScratch,
        _ origin: () -> String
    ) -> Need {
        while true {
            let need: Need?
            switch state {
            case .head, .collecting, .echoing:
                need = parse(input, &position, shared, origin)
            case .waiting(let exchange, let response):
                need = begin(response, exchange, shared)
            case .answering(let exchange, let generator):
                need = produce(exchange, generator, shared)
            case .silent:
                need = .nothing
            case .talking(let talk):
                need = talk.take(input, &position, shared)
            case .over(.close):
                // The peer sent more than the server answers: see `linger`.
                need = .end(position < input.count ? .linger : .close)
            case .over(let ending):
                need = .end(ending)
            }
            if let need { return need }
            if shared.output.count >= ServerScratch.highWater { return .room }
        }
    }

    /// One step of the parser. Nil: continue.
    private mutating func parse(
        _ input: Span<UInt8>,
        _ position: inout Int,
        _ shared: ServerScratch,
        _ origin: () -> String
    ) -> Need? {
        let rest = input.extracting(position...)
        let step: ParseStep
        do throws(HTTP1Error) {
            step = try parser.parse(rest, into: &shared.head)
        } catch {
            return fail(error, shared)
        }
        position += step.consumed
        switch step.event {
        case .needsInput: return .input
        case .head: return tookHead(shared, origin)
        case .body(let range): return tookBody(rest.extracting(range), shared)
        case .end: return tookEnd(shared)
        case .informational, .tunnel:
            // Events of responses, which a parser of requests does not have.
            return .end(.reset)
        }
    }

    @inline(__always)
    private mutating func tookHead(_ shared: ServerScratch, _ origin: () -> String) -> Need? {
        shared.counters.requests.add(1)
        if shared.head.lacksHost {
            return refuse(400, "an http URI has a host: Host is empty, and the target names none", shared)
        }
        let isComplete = parser.isBetweenMessages
        if isComplete, parser.persistence == .keepAlive, !shared.isDraining, shared.head.version.minor > 0,
            shared.fast.answer(shared.head, shared.now, to: &shared.output)
        {
            shared.finishedResponses += 1
            parser.begin()
            return nil
        }
        return open(isComplete, shared, origin)
    }

    @inline(never)
    private mutating func open(_ isComplete: Bool, _ shared: ServerScratch, _ origin: () -> String) -> Need? {
        let head = shared.head
        let request = RouteRequest(
            head,
            origin: origin(),
            scheme: shared.scheme,
            random: shared.nextRandom(),
            requestCount: shared.requestCount
        )
        let route = RouteResponse.route(for: request.path)
        let intake = route.map { $0.methods.contains(request.method) ? $0.intake : .discard } ?? .discard
        let keepsAlive = parser.persistence == .keepAlive && !shared.isDraining
        let exchange = ServerExchange(request, intake, head.version, keepsAlive: keepsAlive)
        exchange.beginUpload(shared)
        guard !isComplete else {
            state = .collecting(exchange)
            return nil
        }
        if let refusal = admit(exchange, head, shared) { return refusal }
        if case .echo = intake, !exchange.isHead { return beginEcho(exchange, shared) }
        state = .collecting(exchange)
        return nil
    }

    /// Whether the request may have a body. A TRACE has none (RFC 9110 §9.3.8). If the final answer is known already,
    /// it comes before the body (§10.1.1).
    private mutating func admit(_ exchange: ServerExchange, _ head: RequestHead, _ shared: ServerScratch) -> Need? {
        if exchange.request.method == "TRACE" { return refuse(400, "a TRACE has no content", shared) }
        if case .collect = exchange.intake,
            let length = parser.bodyRemaining, length > UInt64(clamping: shared.options.collectedBodyBytes)
        {
            return refuse(413, "the body may have \(shared.options.collectedBodyBytes) octets", shared)
        }
        if let answer = exchange.upload?.answer { return answerAtOnce(answer, exchange, shared) }
        guard head.fields.contains(.expect), exchange.version.minor > 0 else { return nil }
        guard head.fields.hasToken(.expect, "100-continue") else {
            return refuse(417, "the only expectation this server knows is 100-continue", shared)
        }
        let route = RouteResponse.route(for: exchange.request.path)
        guard let route, route.methods.contains(exchange.request.method) else {
            return answerAtOnce(RouteResponse.respond(to: exchange.request), exchange, shared)
        }
        shared.output.append("HTTP/1.1 100 Continue\r\n\r\n")
        return nil
    }

    /// The client may never send its body, so the connection cannot be used again.
    private mutating func answerAtOnce(
        _ response: RouteResponse,
        _ exchange: ServerExchange,
        _ shared: ServerScratch
    ) -> Need {
        exchange.keepsAlive = false
        _ = begin(response, exchange, shared)
        return .end(.linger)
    }

    private mutating func tookBody(_ octets: Span<UInt8>, _ shared: ServerScratch) -> Need? {
        switch state {
        case .collecting(let exchange):
            exchange.request.bodyLength &+= UInt64(octets.count)
            if exchange.upload?.take(octets) == false {
                state = .over(.reset)
                return .end(.reset)
            }
            guard case .collect = exchange.intake else { return nil }
            guard exchange.request.body.count + octets.count <= shared.options.collectedBodyBytes else {
                return refuse(413, "the body may have \(shared.options.collectedBodyBytes) octets", shared)
            }
            exchange.request.body.append(octets)
        case .echoing(_, chunked: true):
            MessageSerializer.appendChunk(octets, to: &shared.output)
        case .echoing(_, chunked: false):
            shared.output.append(octets)
        case .head, .waiting, .answering, .silent, .talking, .over:
            break
        }
        return nil
    }

    private mutating func tookEnd(_ shared: ServerScratch) -> Need? {
        switch state {
        case .collecting(let exchange):
            return begin(exchange.response(), exchange, shared)
        case .echoing(let exchange, let chunked):
            if chunked { shared.output.append("0\r\n\r\n") }
            finish(exchange, shared)
        case .head, .waiting, .answering, .silent, .talking, .over:
            break
        }
        return nil
    }

    // MARK: Responses

    /// Starts a response: its delay, then its head. Nil: continue.
    private mutating func begin(
        _ response: RouteResponse,
        _ exchange: ServerExchange,
        _ shared: ServerScratch
    ) -> Need? {
        var response = response
        switch response.fate {
        case .silence:
            state = .silent
            return .nothing
        case .freeze(let span):
            response.fate = .normal
            state = .waiting(exchange, response)
            return .freeze(span)
        case .normal, .truncated, .reset:
            break
        }
        if response.delay > .zero {
            let delay = response.delay
            response.delay = .zero
            state = .waiting(exchange, response)
            return .time(delay)
        }
        do throws(HTTP1Error) {
            try write(response, exchange, shared)
        } catch {
            // The serializer refuses a field, so the route has a defect.
            return refuse(500, "a route made a response that cannot be sent: \(error)", shared)
        }
        return nil
    }

    private mutating func write(
        _ response: RouteResponse,
        _ exchange: ServerExchange,
        _ shared: ServerScratch
    ) throws(HTTP1Error) {
        if shared.isDraining { exchange.keepsAlive = false }
        try shared.appendHints(response, exchange)
        switch response.body {
        case .none:
            try shared.appendHead(response, .none, exchange)
            finish(exchange, shared)
            if let agreement = response.upgrade { state = .talking(ServerTalk(agreement)) }
        case .bytes(let octets):
            let hasBody = response.status != 204 && response.status != 304
            try shared.appendHead(response, hasBody ? .length(UInt64(octets.count)) : .none, exchange)
            if hasBody, !exchange.isHead { shared.output.append(octets.span) }
            finish(exchange, shared)
        case .generated(let generator, let wanted):
            // HTTP/1.0 has no chunks, so its body ends with the connection (RFC 9112 §6.1).
            let framing = wanted == .chunked && exchange.version.minor == 0 ? .untilClose : wanted
            if framing == .untilClose { exchange.keepsAlive = false }
            try shared.appendHead(response, framing, exchange)
            if exchange.isHead { return finish(exchange, shared) }
            exchange.beginBody(framing, of: response)
            state = .answering(exchange, generator)
        }
    }

    private mutating func produce(
        _ exchange: ServerExchange,
        _ generator: BodyGenerator,
        _ shared: ServerScratch
    ) -> Need? {
        if let ending = exchange.cut {
            state = .over(ending)
            return nil
        }
        var generator = generator
        shared.piece.removeAll(keepingCapacity: true)
        let step = generator.next(into: &shared.piece)
        state = .answering(exchange, generator)
        switch step {
        case .piece:
            let piece = shared.piece
            let octets = piece.span.extracting(first: exchange.take(piece.count))
            if exchange.trailers == nil {
                shared.output.append(octets)
            } else {
                MessageSerializer.appendChunk(octets, to: &shared.output)
            }
        case .pause(let span): return .time(span)
        case .end:
            if let trailers = exchange.trailers { shared.appendLastChunk(trailers) }
            finish(exchange, shared)
        }
        return nil
    }

    /// `/echo` with a body: the head is sent now, the body while it comes.
    private mutating func beginEcho(_ exchange: ServerExchange, _ shared: ServerScratch) -> Need? {
        let response = RouteResponse.echoNothing(exchange.request, [])
        if shared.isDraining { exchange.keepsAlive = false }
        let length = parser.bodyRemaining
        do throws(HTTP1Error) {
            try shared.appendHead(response, length.map { .length($0) } ?? .chunked, exchange)
        } catch {
            return refuse(500, "the request's Content-Type cannot be sent back: \(error)", shared)
        }
        state = .echoing(exchange, chunked: length == nil)
        return nil
    }

    private mutating func finish(_ exchange: ServerExchange, _ shared: ServerScratch) {
        shared.finishedResponses += 1
        if exchange.keepsAlive {
            parser.begin()
            state = .head
        } else {
            state = .over(parser.isBetweenMessages ? .close : .linger)
        }
    }

    // MARK: Refusals

    private mutating func fail(_ error: HTTP1Error, _ shared: ServerScratch) -> Need {
        switch state {
        case .head, .collecting:
            return refuse(error.responseStatus, error.description, shared)
        case .echoing, .waiting, .answering, .silent, .talking, .over:
            // A response is already under way. Cutting it short shows the client an error.
            state = .over(.linger)
            return .end(.linger)
        }
    }

    private mutating func refuse(_ status: Int, _ text: String, _ shared: ServerScratch) -> Need {
        shared.appendRefusal(status, text)
        state = .over(.linger)
        return .end(.linger)
    }
}

extension ServerMachine {
    /// What the machine needs before it can continue.
    enum Need: Equatable {
        /// More octets; it has used all that it got.
        case input
        /// The output must be sent, then ``ServerMachine/resume(_:)`` called.
        case room
        case time(Duration)
        /// Every loop of the server must sleep for this time, then `resume` be called.
        case freeze(Duration)
        /// Nothing but the end of the peer.
        case nothing
        /// The connection must end in this way once the output is sent.
        case end(Ending)
    }

    enum Ending: Equatable {
        case close
        /// FIN, then reading for a while: closing with unread input would send an RST that destroys the response on its
        /// way (RFC 9112 §9.6).
        case linger
        case reset
    }
}

/// A WebSocket connection. It sends every message back in one frame.
final class ServerTalk {
    private var machine: WebSocketMachine

    /// Tests send large messages, but a test server holds only a few.
    private static let maximumMessageSize = 64 << 20

    init(_ agreement: Agreement) {
        machine = WebSocketMachine(
            .server,
            deflate: agreement.deflate,
            maximumMessageSize: ServerTalk.maximumMessageSize
        )
    }

    /// Answers the input from `position` on, as far as there is room.
    func take(_ input: Span<UInt8>, _ position: inout Int, _ shared: ServerScratch) -> ServerMachine.Need {
        defer { shared.output += machine.takeOutput() }
        var room = ServerScratch.highWater
        do throws(WebSocketError) {
            while let event = try machine.receive(input, &position) {
                switch event {
                case .message(let message):
                    room -= message.size
                    _ = machine.send(message)
                case .ping(let payload):
                    room -= payload.count
                    machine.pong(payload)
                case .pong:
                    break
                case .closed:
                    // RFC 6455 §7.1.1: the server closes first.
                    return .end(.linger)
                }
                if room < 0 { return .room }
            }
        } catch {
            return .end(.linger)
        }
        return .input
    }
}

extension WebSocketMessage {
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
