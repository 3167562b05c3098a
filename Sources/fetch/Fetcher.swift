import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTLS

/// Fetches one URL after the other on a loop, so that a transfer's times are its own and the next one may find its
/// connection still open. Stops the loop after the last.
final class Fetcher: ExchangeDelegate {
    /// What the transfers so far tell the shell.
    private(set) var verdict = FetchVerdict.good

    private let options: FetchOptions
    private let loop: EventLoop
    private let engine: Engine
    /// The URL under way; `urls.endIndex` when all are done.
    private var current = 0
    private var coding: String?
    private var outputFailure: Errno?

    init(_ options: FetchOptions, on loop: EventLoop) throws(TLSError) {
        self.options = options
        self.loop = loop
        var configuration = EngineConfiguration()
        if options.isInsecure || options.authorities != nil {
            var tls = TLSConfiguration()
            if options.isInsecure { tls.verifiesServers = false }
            if let path = options.authorities { tls.roots = .file(path) }
            configuration.tls = try TLSContext(tls)
            configuration.proxyTLS = configuration.tls
        }
        if let proxy = options.proxy { configuration.proxies = OriginProxies(proxy) }
        engine = Engine(on: loop, configuration: configuration)
    }

    /// To be called before the loop runs.
    func start() {
        if !options.isQuiet { put(ExchangeReport.tableHeader, to: tableStream) }
        fetch()
    }

    private func fetch() {
        guard current < options.urls.endIndex, outputFailure == nil else {
            engine.shutdown { [loop] in loop.stop() }
            return
        }
        coding = nil
        let url = options.urls[current]
        do {
            engine.start(try request(url), delegate: self)
        } catch {
            fail(url, error)
            current += 1
            fetch()
        }
    }

    private func request(_ url: HTTPURL) throws -> EngineRequest {
        guard let path = options.upload else { return try EngineRequest(origin: url.origin, target: url.target) }
        let body = Content.file(try FileBody(path: path))
        return try EngineRequest(method: "PUT", origin: url.origin, target: url.target, body: body)
    }

    // MARK: What the engine tells

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        if head.status >= 200 { coding = head.fields.joined("Content-Encoding") }
        guard options.writesHeads else { return }
        var text = "\(head.version) \(head.status) \(head.reason)\n"
        head.fields.forEach { name, value in text += "\(name): \(value)\n" }
        put(text + "\n", to: BlockingOutput.standard)
    }

    /// A slow reader of ours holds the loop, which has nothing else to do; the peer is held by its socket.
    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        guard options.writesBodies, outputFailure == nil else { return }
        do throws(Errno) {
            try BlockingOutput.writeAll(bytes, to: BlockingOutput.standard)
        } catch {
            outputFailed(error)
            engine.cancel(id)
        }
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        let url = options.urls[current]
        switch outcome {
        case .completed:
            if let status = report.status, status >= 400 { verdict = max(verdict, .refused) }
            if !options.isQuiet { put(report.tableRow(url, coding: coding), to: tableStream) }
        case .failed(let error):
            if outputFailure == nil { fail(url, error) }
        }
        current += 1
        fetch()
    }

    // MARK: Output

    /// Standard output belongs to what was asked for.
    private var tableStream: CInt {
        options.writesBodies || options.writesHeads ? BlockingOutput.errors : BlockingOutput.standard
    }

    private func fail(_ url: HTTPURL, _ error: any Error) {
        verdict = .failed
        put("fetch: \(url): \(error)\n", to: BlockingOutput.errors)
    }

    private func put(_ text: String, to stream: CInt) {
        do throws(Errno) {
            try BlockingOutput.writeAll(text, to: stream)
        } catch {
            outputFailed(error)
        }
    }

    /// Said once, where it can still be said; the transfers end.
    private func outputFailed(_ error: Errno) {
        guard outputFailure == nil else { return }
        outputFailure = error
        verdict = .failed
        try? BlockingOutput.writeAll("fetch: the output takes no more: \(error)\n", to: BlockingOutput.errors)
    }
}

/// The lines that tell how transfers went, in columns.
extension ExchangeReport {
    static let tableHeader = line(
        [
            "status", "bytes", "on the wire", "coding", "connection", "TLS", "look-up", "connect", "handshake",
            "first byte", "total",
        ],
        "URL"
    )

    /// - Parameter coding: the response's Content-Encoding.
    func tableRow(_ url: HTTPURL, coding: String?) -> String {
        // A connection's look-up and connect belong to the exchange that it was made for.
        let record = reusedConnection ? nil : connection
        let dial = record?.timings
        return Self.line(
            [
                status.map(String.init) ?? "-",
                String(contentDelivered),
                coding == nil ? "-" : String(contentReceived),
                coding ?? "-",
                reusedConnection ? "reused" : "new",
                connection?.security.map(Self.version) ?? "-",
                Self.time(from: dial?.lookupStart, to: dial?.lookupEnd),
                Self.time(from: dial?.connectStart, to: dial?.connectEnd),
                Self.time(from: record?.handshake.start, to: record?.handshake.end),
                Self.time(from: timings.requestStart, to: timings.responseStart),
                Self.time(from: timings.start, to: timings.responseEnd),
            ],
            url.description
        )
    }

    private static let widths = [6, 10, 11, 8, 10, 4, 10, 10, 10, 10, 11]

    /// `1.3`, and `1.3+` where a session was resumed.
    private static func version(_ info: TLSInfo) -> String {
        let number =
            switch info.version {
            case .v1_2: "1.2"
            case .v1_3: "1.3"
            }
        return info.isResumed ? number + "+" : number
    }

    private static func line(_ cells: [String], _ url: String) -> String {
        let padded = zip(cells, widths).map { cell, width in
            String(repeating: " ", count: max(0, width - cell.count)) + cell
        }
        return padded.joined(separator: "  ") + "  " + url + "\n"
    }

    /// `12.34 ms`: one unit for all, so that the eye can compare.
    private static func time(from start: Instant?, to end: Instant?) -> String {
        guard let start, let end else { return "-" }
        let hundredths = (max(0, end.nanoseconds(since: start)) + 5_000) / 10_000
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) ms"
    }
}
