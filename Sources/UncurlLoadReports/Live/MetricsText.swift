import UncurlLoad

/// The counts of a current run in Prometheus' text format, version 0.0.4.
enum MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The upper bounds of the histogram's buckets, in nanoseconds: 1, 2.5, 5 from 100 µs to 10 s.
    static let bounds: [UInt64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    static func text(_ metrics: Metrics, of plan: RunPlan) -> String {
        text(metrics, of: plan.options.work, url: plan.url, names: plan.requestNames.all)
    }

    static func text(_ metrics: Metrics, of work: LoadKind, url: String, names: [String] = []) -> String {
        var text = ""
        let measured = Measured(metrics, of: work, in: 0)
        families(.requests, measured, to: &text)
        metric(
            "volley_responses_total",
            "counter",
            "Responses by status.",
            metrics.statuses.indices.filter { metrics.statuses[$0] > 0 }.map {
                (label("code", "\($0)"), metrics.statuses[$0])
            },
            to: &text
        )
        metric(
            "volley_errors_total",
            "counter",
            "Failures by phase and class.",
            errors(metrics.failures),
            to: &text
        )
        families(.connections, measured, to: &text)
        families(.bytes, measured, to: &text)
        switch work {
        case .requests:
            histogram(
                "volley_request_duration_seconds",
                "Time of successful requests.",
                metrics.headline(work),
                to: &text
            )
        case .handshakes:
            histogram("volley_handshake_duration_seconds", "Time of TLS handshakes.", metrics.headline(work), to: &text)
        }
        for section in [Figure.Section.schedule, .stream, .websocket] where metrics.has(section.part) {
            families(section, measured, to: &text)
        }
        named(Array(zip(names, metrics.names)), to: &text)
        metric("volley_run_info", "gauge", "What is being tested.", [(label("url", url), 1)], to: &text)
        return text
    }

    private static func families(_ section: Figure.Section, _ measured: Measured, to text: inout String) {
        for family in Figure.families(of: section) {
            guard let name = family[0].metric else { continue }
            let help = family[0].metricHelp ?? ""
            if let times = family[0].times {
                histogram(name, help, measured.metrics[times], to: &text)
            } else {
                let samples = family.map { figure in
                    (figure.label.map { label($0.name, $0.value) } ?? "", figure.integer(measured) ?? 0)
                }
                metric("\(name)_total", "counter", help, samples, to: &text)
            }
        }
    }

    private static func named(_ rows: [(name: String, metrics: NamedMetrics)], to text: inout String) {
        guard !rows.isEmpty else { return }
        metric(
            "volley_named_requests_total",
            "counter",
            "Requests by name and outcome.",
            rows.flatMap { name, metrics in
                [("success", metrics.succeeded), ("http_error", metrics.httpErrors), ("failed", metrics.failed)].map {
                    (label("name", name) + "," + label("outcome", $0.0), $0.1)
                }
            },
            to: &text
        )
        let metric = "volley_named_request_duration_seconds"
        text += "# HELP \(metric) Time of requests by name.\n# TYPE \(metric) histogram\n"
        for (name, metrics) in rows { samples(metric, label("name", name), metrics.latency, to: &text) }
    }

    /// Kinds with the same labels share a line: the same series twice is an error.
    private static func errors(_ log: FailureLog) -> [(String, UInt64)] {
        var counts: [String: UInt64] = [:]
        for (failure, record) in log.sorted {
            counts[
                label("phase", failure.phase.rawValue) + "," + label("class", failure.kind.rawValue),
                default: 0
            ] &+= record.count
        }
        return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func metric(
        _ name: String,
        _ type: String,
        _ help: String,
        _ samples: [(labels: String, value: UInt64)],
        to text: inout String
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for sample in samples {
            text += name + (sample.labels.isEmpty ? "" : "{\(sample.labels)}") + " \(sample.value)\n"
        }
    }

    private static func histogram(_ name: String, _ help: String, _ values: LatencyHistogram, to text: inout String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
        samples(name, "", values, to: &text)
    }

    private static func samples(_ name: String, _ labels: String, _ values: LatencyHistogram, to text: inout String) {
        let (before, all) = labels.isEmpty ? ("", "") : (labels + ",", "{\(labels)}")
        var counts = [UInt64](repeating: 0, count: bounds.count)
        values.forEachRecorded { value, count in
            for index in bounds.indices where value <= bounds[index] { counts[index] &+= count }
        }
        for (bound, count) in zip(bounds, counts) {
            text += "\(name)_bucket{\(before)le=\"\(Double(bound) / 1e9)\"} \(count)\n"
        }
        text += "\(name)_bucket{\(before)le=\"+Inf\"} \(values.count)\n"
        text += "\(name)_sum\(all) \(Double(values.sum) / 1e9)\n\(name)_count\(all) \(values.count)\n"
    }

    private static func label(_ name: String, _ value: String) -> String {
        let escaped = value.replacingEach("\\", by: "\\\\").replacingEach("\"", by: "\\\"").replacingEach(
            "\n",
            by: "\\n"
        )
        return "\(name)=\"\(escaped)\""
    }
}
