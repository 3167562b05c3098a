internal import CUncurlLinux
internal import UncurlEngine
import UncurlHTTP1
package import UncurlLoad
package import UncurlReactor
import UncurlSemantics
internal import UncurlTLS
package import UncurlText

/// Sends the counts of a current run to an OpenTelemetry collector, on a loop of its own. The counts are cumulative, so
/// a later push replaces one that failed or was skipped because the one before it was under way.
package final class OTLPPush: Sendable {
    private let url: TargetURL
    private let group: EventLoopGroup
    private let sender: LoopBound<Sender>
    private let tally: Monitor<Tally>

    /// The pushes by their outcome, and the last problem.
    ///
    /// - start, last: When the counts began and when they were last pushed, in nanoseconds since 1970.
    private typealias Tally = (
        start: UInt64, last: UInt64, accepted: Int, failed: Int, underWay: Int, problem: String
    )

    /// The longest wait for a push that is under way.
    private static let patience = Duration.seconds(10)

    /// - Parameter url: the collector's URL; a path of `/` means `/v1/metrics`.
    package init(_ url: TargetURL) throws(Errno) {
        self.url = url
        let now = Self.now
        tally = Monitor<Tally>((now, now, accepted: 0, failed: 0, underWay: 0, problem: ""))
        (group, sender) = try EventLoopGroup.single("otlp") { loop in LoopBound(Sender(on: loop), on: loop) }
    }

    private static var now: UInt64 { UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME)) }

    /// Notes that the counts have begun anew since the last push: that was the end of the former ones.
    package func renew() { tally.withLock { $0.start = $0.last } }

    /// Sends the current counts, unless a push is under way.
    package func publish(_ metrics: Metrics, of plan: RunPlan) { push(metrics, of: plan, isLast: false) }

    /// Sends the last counts. It waits for a push under way and for the collector's answer, at most 10 s each.
    package func finish(_ metrics: Metrics, of plan: RunPlan) {
        wait()
        push(metrics, of: plan, isLast: true)
        wait()
    }

    /// A note for the report about pushes that failed; nil if none failed.
    package var note: String? {
        tally.withLock { tally in
            guard tally.failed > 0 else { return nil }
            return "\(tally.failed) of \(tally.failed + tally.accepted) pushes to \(url.text) failed: \(tally.problem)"
        }
    }

    package func stop() { group.shutdown() }

    private func wait() { _ = tally.wait(atMost: Self.patience) { $0.underWay == 0 ? true : nil } }

    private func push(_ metrics: Metrics, of plan: RunPlan, isLast: Bool) {
        let now = Self.now
        let start: UInt64? = tally.withLock { tally in
            guard tally.underWay == 0 else { return nil }
            (tally.underWay, tally.last) = (1, now)
            return tally.start
        }
        guard let start else { return }
        let document = metrics.otlp(of: plan, (start, now))
        let content = Array(document.line().utf8)
        let (url, tally, sender) = (url, tally, sender)
        sender.loop.post {
            sender.value.send(content, to: url) { problem in
                tally.update { tally in
                    tally.underWay = 0
                    if let problem {
                        tally.failed += 1
                        tally.problem = problem
                    } else {
                        tally.accepted += 1
                    }
                }
            }
        }
    }

    /// The engine of the pushes. It belongs to its loop.
    private final class Sender: ExchangeDelegate {
        private let engine: Engine
        private var done: ((String?) -> Void)?

        init(on loop: EventLoop) {
            var configuration = EngineConfiguration()
            configuration.timeouts = Timeouts(connect: .seconds(5), total: .seconds(10))
            engine = Engine(on: loop, configuration: configuration, resolver: Resolver())
        }

        func send(_ content: [UInt8], to url: TargetURL, then: @escaping (String?) -> Void) {
            do throws(EngineError) {
                var fields = HTTPFields()
                do throws(HTTP1Error) {
                    try fields.append("Content-Type", "application/json")
                    try fields.append("User-Agent", "volley/\(PackageVersion.text)")
                } catch {
                    throw .invalidRequest(.syntax(error))
                }
                let request = try EngineRequest(
                    method: "POST",
                    origin: url.parts.origin,
                    target: url.target == "/" ? "/v1/metrics" : url.target,
                    fields: fields,
                    body: .bytes(content),
                    options: EngineRequest.Options()
                )
                done = then
                _ = engine.start(request, delegate: self)
            } catch {
                then("\(error)")
            }
        }

        func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {}

        func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}

        func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
            let problem: String? =
                switch outcome {
                case .completed: (200..<300).contains(report.status ?? 0) ? nil : "status \(report.status ?? 0)"
                case .failed(let error): "\(error)"
                }
            let then = done
            done = nil
            then?(problem)
        }
    }
}

/// The counts of a current run for an OpenTelemetry collector: the body of a POST to `/v1/metrics` (OTLP/HTTP 1.x,
/// JSON). All sums and histograms are cumulative from a start time.
extension Metrics {
    /// When the counts began, and their time, in nanoseconds since 1970. All points of a push share them.
    package typealias PushTimes = (start: UInt64, now: UInt64)

    package func otlp(of plan: RunPlan, _ times: PushTimes) -> JSONTree {
        let measured = Measured(self, of: plan.options.work, in: 0)
        var all = families(times, .requests, measured)
        let responses: Points = seenStatuses.map { ([("http.response.status_code", "\($0.code)")], $0.count) }
        let errors: Points = failures.sorted.map { failure, record in
            let (phase, kind) = (failure.phase.rawValue, failure.kind.rawValue)
            return ([("phase", phase), ("error.type", kind), ("detail", failure.detail)], record.count)
        }
        all.append(sum(times, "volley.responses", unit: "{response}", responses))
        all.append(sum(times, "volley.errors", unit: "{error}", errors))
        all += families(times, .connections, measured) + families(times, .bytes, measured)
        switch plan.options.work {
        case .requests:
            // The series of all requests and of each name. An attribute distinguishes them.
            let named = zip(plan.requestNames.all, names).map { ([("volley.name", $0)], $1.latency) }
            let series = named.isEmpty ? [([], headline(plan.options.work))] : named
            all.append(histogram(times, "http.client.request.duration", series))
        case .handshakes:
            all.append(histogram(times, "tls.client.handshake.duration", [([], headline(plan.options.work))]))
        }
        for section in [Figure.Section.schedule, .stream, .websocket] where has(section.part) {
            all += families(times, section, measured)
        }
        let scope = JSONTree.object([("name", "volley"), ("version", .string(PackageVersion.text))])
        let resource = attributes([
            ("service.name", "volley"), ("service.version", PackageVersion.text), ("url.full", plan.url),
        ])
        let metrics = JSONTree.object([("scope", scope), ("metrics", .array(all))])
        let whole: [(String, JSONTree)] = [
            ("resource", .object([("attributes", resource)])), ("scopeMetrics", .array([metrics])),
        ]
        return .object([("resourceMetrics", .array([.object(whole)]))])
    }

    private func attributes(_ pairs: [(String, String)]) -> JSONTree {
        .array(
            pairs.filter { !$0.1.isEmpty }.map { name, value in
                .object([("key", .string(name)), ("value", .object([("stringValue", .string(value))]))])
            }
        )
    }

    // Integers of 64 bits are texts in Protobuf's JSON.
    private func families(_ times: PushTimes, _ section: Figure.Section, _ measured: Measured) -> [JSONTree] {
        Figure.families(of: section).map { family in
            let (name, unit) = (family[0].dotted, family[0].unit)
            if let kind = family[0].times { return histogram(times, name, [([], measured.metrics[kind])]) }
            let points: Points = family.map { figure in
                (figure.label.map { [($0.name, $0.value)] } ?? [], figure.integer(measured) ?? 0)
            }
            return sum(times, name, unit: unit, points)
        }
    }

    private typealias Points = [(attributes: [(String, String)], count: UInt64)]

    private func sum(_ times: PushTimes, _ name: String, unit: String, _ points: Points) -> JSONTree {
        let points = points.map { point(times, $0.attributes, [("asInt", .string("\($0.count)"))]) }
        return metric("sum", name, unit, [("isMonotonic", .bool(true))], points)
    }

    /// A histogram in seconds, as OpenTelemetry's conventions require.
    private func histogram(
        _ times: PushTimes,
        _ name: String,
        _ series: [(attributes: [(String, String)], times: LatencyHistogram)]
    ) -> JSONTree {
        metric("histogram", name, "s", [], series.map { point(times, $0.attributes, buckets($0.times)) })
    }

    private func metric(
        _ kind: String,
        _ name: String,
        _ unit: String,
        _ others: [(String, JSONTree)],
        _ points: [JSONTree]
    ) -> JSONTree {
        let data: [(String, JSONTree)] =
            [("aggregationTemporality", .integer(2))] + others + [("dataPoints", .array(points))]
        return .object([("name", .string(name)), ("unit", .string(unit)), (kind, .object(data))])
    }

    private func buckets(_ times: LatencyHistogram) -> [(String, JSONTree)] {
        let bounds = Self.bounds
        var counts = [UInt64](repeating: 0, count: bounds.count + 1)
        times.forEachRecorded { value, count in
            counts[bounds.firstIndex { value <= $0 } ?? bounds.count] &+= count
        }
        var members: [(String, JSONTree)] = [
            ("count", .string("\(times.count)")), ("sum", .number(Double(times.sum) / 1e9)),
            ("bucketCounts", .array(counts.map { .string("\($0)") })),
            ("explicitBounds", .array(bounds.map { .number(Double($0) / 1e9) })),
        ]
        if let summary = times.summary(percentiles: []) {
            members.append(("min", .number(Double(summary.minimum) / 1e9)))
            members.append(("max", .number(Double(summary.maximum) / 1e9)))
        }
        return members
    }

    private func point(_ times: PushTimes, _ pairs: [(String, String)], _ members: [(String, JSONTree)]) -> JSONTree {
        let common: [(String, JSONTree)] = [
            ("attributes", attributes(pairs)), ("startTimeUnixNano", .string("\(times.start)")),
            ("timeUnixNano", .string("\(times.now)")),
        ]
        return .object(common + members)
    }
}
