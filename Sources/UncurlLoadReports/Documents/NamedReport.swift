import UncurlLoad
import UncurlText

/// The figures by name, for each report.
enum NamedReport {
    /// The names with their counts; empty where requests have no names.
    static func rows(_ result: RunResult) -> [(name: String, metrics: NamedMetrics)] {
        Array(zip(result.plan.requestNames.all, result.metrics.names))
    }

    static func json(_ result: RunResult) -> JSONTree {
        .array(
            rows(result).map { name, metrics in
                .object([
                    ("name", .string(name)),
                    ("completed", .integer(metrics.completed)),
                    ("succeeded", .integer(metrics.succeeded)),
                    ("http_errors", .integer(metrics.httpErrors)),
                    ("failed", .integer(metrics.failed)),
                    ("latency", metrics.latency.json),
                ])
            }
        )
    }

    /// A name for logs whose tags have neither commas nor spaces.
    static func tag(_ series: String, _ name: String) -> String {
        let scalars = name.unicodeScalars.map { $0 == "," || $0.properties.isWhitespace ? "_" : $0 }
        return series + "." + String(String.UnicodeScalarView(scalars))
    }

    /// A name for comma-separated values (RFC 4180 §2).
    static func cell(_ name: String) -> String {
        name.utf8.contains { ",\"\r\n".utf8.contains($0) } ? "\"\(name.replacingEach("\"", by: "\"\""))\"" : name
    }
}
