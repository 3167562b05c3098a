internal import Synchronization
package import UncurlLoad
package import UncurlReactor

/// Answers GET /metrics during a run, on a loop of its own, so that a scrape does not delay the workers.
package final class MetricsServer: Sendable {
    package let port: UInt16
    private let group: EventLoopGroup
    private let listener: LoopBound<Listener>
    private let page: MetricsPage

    /// - Parameter port: the port on all addresses of this machine, of both families; 0 for any free port.
    package init(port: UInt16, of plan: RunPlan) throws(Errno) {
        let page = MetricsPage((plan.noMetrics.prometheus(of: plan), false))
        let (group, made) = try EventLoopGroup.single("metrics") { loop throws(Errno) in
            let listener = try Self.listen(port, on: loop) { MetricsConnection.begin($0, on: loop, page) }
            return (listener: LoopBound(listener, on: loop), port: listener.address.port ?? port)
        }
        (self.group, self.page, listener, self.port) = (group, page, made.listener, made.port)
    }

    package func publish(_ metrics: Metrics, of plan: RunPlan) {
        let text = metrics.prometheus(of: plan)
        page.update { $0 = (text, false) }
    }

    /// Listens on both families, or on IPv4 only if that fails, as without IPv6 in the kernel.
    private static func listen(
        _ port: UInt16,
        on loop: EventLoop,
        _ accept: @escaping (consuming Socket) -> Void
    ) throws(Errno) -> Listener {
        if let both = try? Listener(on: loop, at: .v6(.any, port: port), accept: accept) { return both }
        return try Listener(on: loop, at: .v4(.any, port: port), accept: accept)
    }

    /// Ends the server after the last figures have been scraped.
    package func stop(after linger: UInt64) {
        if linger > 0 {
            _ = page.wait(atMost: .nanoseconds(Int64(clamping: linger))) { $0.wasRead ? true : nil }
        }
        let listener = listener
        listener.loop.post { listener.value.close() }
        group.shutdown()
    }
}

extension EventLoopGroup {
    /// A group of one loop, and a value that is made on its thread.
    static func single<Value: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable (EventLoop) throws(Errno) -> Value
    ) throws(Errno) -> (EventLoopGroup, Value) {
        let group = try EventLoopGroup(count: 1, name: name)
        let loop = group.loops[0]
        do throws(Errno) {
            return (group, try loop.perform { () throws(Errno) in try body(loop) })
        } catch {
            group.shutdown()
            throw error
        }
    }
}

/// The current text, and whether it has been read.
typealias MetricsPage = Monitor<(text: String, wasRead: Bool)>

/// One scrape: a request's head, one answer, then the end. It belongs to the loop's thread.
final class MetricsConnection: ReadinessHandler, TimerHandler {
    private enum State {
        case reading([UInt8])
        case writing([UInt8], from: Int)
        /// The server waits for the peer's FIN, so that no RST overtakes the answer.
        case ending
        case closed
    }

    /// The longest head of a request; no scraper's head is longer.
    private static let headLimit = 16 << 10
    private static let patience = Duration.seconds(10)

    private let loop: EventLoop
    private let page: MetricsPage
    private var socket: Socket?
    private var token: Token?
    private var timer: TimerID?
    private var state = State.reading([])

    static func begin(_ socket: consuming Socket, on loop: EventLoop, _ page: MetricsPage) {
        let connection = MetricsConnection(socket, on: loop, page)
        connection.register()
    }

    private init(_ socket: consuming Socket, on loop: EventLoop, _ page: MetricsPage) {
        (self.loop, self.page) = (loop, page)
        self.socket = consume socket
    }

    private func register() {
        guard let number = socket?.number, let token = try? loop.register(number, .read, self) else { return close() }
        self.token = token
        timer = loop.arm(at: loop.now.advanced(by: Self.patience), self)
    }

    func timerFired(_ id: TimerID) {
        timer = nil
        close()
    }

    func ready(_ readiness: Readiness) {
        switch state {
        case .reading, .ending: read()
        case .writing: write()
        case .closed: break
        }
    }

    private func read() {
        guard let outcome = try? socket?.read(into: loop.readBuffer) else { return close() }
        switch outcome {
        case .wouldBlock: break
        case .endOfStream: close()
        case .bytes(let count):
            guard case .reading(var head) = state else { return }
            loop.readBuffer.withBytes(count) { bytes in for index in bytes.indices { head.append(bytes[index]) } }
            if Self.isWhole(head) || head.count > Self.headLimit {
                state = .writing(answer(to: head), from: 0)
                write()
            } else {
                state = .reading(head)
            }
        }
    }

    private static func isWhole(_ head: [UInt8]) -> Bool {
        head.indices.dropLast(3).contains { head[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) }
    }

    private func answer(to head: [UInt8]) -> [UInt8] {
        let words = String(decoding: head.prefix { $0 != 13 }, as: UTF8.self).split(separator: " ")
        let path = words.count == 3 ? words[1].prefix { $0 != "?" } : ""
        switch (words.first, path) {
        case ("GET"?, "/metrics"), ("GET"?, "/"): return Self.response("200 OK", read(page))
        case ("HEAD"?, "/metrics"), ("HEAD"?, "/"): return Self.response("200 OK", read(page), hasContent: false)
        case ("GET"?, _), ("HEAD"?, _): return Self.response("404 Not Found", "the metrics are at /metrics\n")
        default: return Self.response("400 Bad Request", "GET /metrics\n")
        }
    }

    private func read(_ page: MetricsPage) -> String {
        page.update { $0.wasRead = true }
        return page.withLock { $0.text }
    }

    private static func response(_ status: String, _ content: String, hasContent: Bool = true) -> [UInt8] {
        let head =
            "HTTP/1.1 \(status)\r\nContent-Type: \(Metrics.prometheusType)\r\nContent-Length: \(content.utf8.count)\r\n"
            + "Connection: close\r\n\r\n"
        return Array((hasContent ? head + content : head).utf8)
    }

    private func write() {
        guard case .writing(let bytes, var sent) = state, let token else { return }
        do throws(Errno) {
            while sent < bytes.count {
                guard let outcome = try socket?.write(bytes.span.extracting(sent...)) else {
                    // The socket is full. Reading stops, because unread bytes would wake the loop again and again.
                    state = .writing(bytes, from: sent)
                    try loop.setInterest(token, .write)
                    return
                }
                sent += outcome
            }
        } catch {
            return close()
        }
        state = .ending
        try? loop.setInterest(token, .read)
        socket?.shutdownWrite()
    }

    private func close() {
        if let timer { loop.cancel(timer) }
        if let token { loop.deregister(token) }
        (timer, token) = (nil, nil)
        socket = nil
        state = .closed
    }
}

/// The counts of a current run in Prometheus' text format, version 0.0.4.
extension Metrics {
    static let prometheusType = "text/plain; version=0.0.4; charset=utf-8"

    /// The upper bounds of the histogram's buckets, in nanoseconds: 1, 2.5, 5 from 100 µs to 10 s.
    static let bounds: [UInt64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    func prometheus(of plan: RunPlan) -> String {
        prometheus(of: plan.options.work, url: plan.url, names: plan.requestNames.all)
    }

    func prometheus(of work: LoadKind, url: String, names: [String] = []) -> String {
        let measured = Measured(self, of: work, in: 0)
        let (what, words) = work == .requests ? ("request", "successful requests") : ("handshake", "TLS handshakes")
        let statuses = seenStatuses.map { (label("code", "\($0.code)"), $0.count) }
        var parts = families(.requests, measured)
        parts.append(metric("volley_responses_total", "counter", "Responses by status.", statuses))
        parts.append(metric("volley_errors_total", "counter", "Failures by phase and class.", errorSamples))
        parts += families(.connections, measured) + families(.bytes, measured)
        parts.append(histogram("volley_\(what)_duration_seconds", "Time of \(words).", [("", headline(work))]))
        for section in [Figure.Section.schedule, .stream, .websocket] where has(section.part) {
            parts += families(section, measured)
        }
        parts += named(Array(zip(names, self.names)))
        parts.append(metric("volley_run_info", "gauge", "What is being tested.", [(label("url", url), 1)]))
        return parts.joined()
    }

    private func families(_ section: Figure.Section, _ measured: Measured) -> [String] {
        Figure.families(of: section).compactMap { family in
            guard let name = family[0].metric else { return nil }
            let help = family[0].metricHelp ?? ""
            if let times = family[0].times { return histogram(name, help, [("", measured.metrics[times])]) }
            let samples = family.map { figure in
                (figure.label.map { label($0.name, $0.value) } ?? "", figure.integer(measured) ?? 0)
            }
            return metric("\(name)_total", "counter", help, samples)
        }
    }

    private func named(_ rows: [(name: String, metrics: NamedMetrics)]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let outcomes = rows.flatMap { name, metrics in
            [("success", metrics.succeeded), ("http_error", metrics.httpErrors), ("failed", metrics.failed)].map {
                (label("name", name) + "," + label("outcome", $0.0), $0.1)
            }
        }
        let times = rows.map { (label("name", $0.name), $0.metrics.latency) }
        return [
            metric("volley_named_requests_total", "counter", "Requests by name and outcome.", outcomes),
            histogram("volley_named_request_duration_seconds", "Time of requests by name.", times),
        ]
    }

    /// Kinds with the same labels share a line: the same series twice is an error.
    private var errorSamples: [(String, UInt64)] {
        var counts: [String: UInt64] = [:]
        for (failure, record) in failures.sorted {
            counts[
                label("phase", failure.phase.rawValue) + "," + label("class", failure.kind.rawValue),
                default: 0
            ] &+= record.count
        }
        return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func metric(
        _ name: String,
        _ type: String,
        _ help: String,
        _ samples: [(labels: String, value: UInt64)]
    ) -> String {
        samples.reduce(into: "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n") { text, sample in
            text += name + (sample.labels.isEmpty ? "" : "{\(sample.labels)}") + " \(sample.value)\n"
        }
    }

    private func histogram(_ name: String, _ help: String, _ series: [(String, LatencyHistogram)]) -> String {
        metric(name, "histogram", help, []) + series.map { samples(name, $0.0, $0.1) }.joined()
    }

    private func samples(_ name: String, _ labels: String, _ values: LatencyHistogram) -> String {
        var text = ""
        let (before, all) = labels.isEmpty ? ("", "") : (labels + ",", "{\(labels)}")
        let bounds = Self.bounds
        var counts = [UInt64](repeating: 0, count: bounds.count)
        values.forEachRecorded { value, count in
            for index in bounds.indices where value <= bounds[index] { counts[index] &+= count }
        }
        for (bound, count) in zip(bounds, counts) {
            text += "\(name)_bucket{\(before)le=\"\(Double(bound) / 1e9)\"} \(count)\n"
        }
        text += "\(name)_bucket{\(before)le=\"+Inf\"} \(values.count)\n"
        text += "\(name)_sum\(all) \(Double(values.sum) / 1e9)\n\(name)_count\(all) \(values.count)\n"
        return text
    }

    private func label(_ name: String, _ value: String) -> String {
        "\(name)=\"\(value.replacingEach(["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]))\""
    }
}
