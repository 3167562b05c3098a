import HTTPEngine
import Reactor

/// The lines that tell how transfers went, in columns.
enum ResultTable {
    static let header = line(
        ["status", "bytes", "on the wire", "coding", "connection", "look-up", "connect", "first byte", "total"],
        "URL"
    )

    /// - Parameter coding: the response's Content-Encoding.
    static func row(_ url: HTTPURL, _ report: ExchangeReport, coding: String?) -> String {
        let timings = report.timings
        // A connection's look-up and connect belong to the exchange that it was made for.
        let dial = report.reusedConnection ? nil : report.connection?.timings
        return line(
            [
                report.status.map(String.init) ?? "-",
                String(report.contentDelivered),
                coding == nil ? "-" : String(report.contentReceived),
                coding ?? "-",
                report.reusedConnection ? "reused" : "new",
                time(from: dial?.lookupStart, to: dial?.lookupEnd),
                time(from: dial?.connectStart, to: dial?.connectEnd),
                time(from: timings.requestStart, to: timings.responseStart),
                time(from: timings.start, to: timings.responseEnd),
            ],
            url.description
        )
    }

    private static let widths = [6, 10, 11, 8, 10, 10, 10, 10, 11]

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
