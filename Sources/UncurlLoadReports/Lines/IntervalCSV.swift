package import UncurlLoad

/// Intervals as comma-separated values, one line each. Times are in milliseconds.
extension Interval {
    private static let columns = Figure.of(.intervals).filter(\.isColumn)

    package static let csvHead =
        "start_s,length_s,\(columns.map(\.name).joined(separator: ",")),p50_ms,p90_ms,p99_ms,p99_9_ms,max_ms,mean_ms,name\n"

    /// One line for all requests, and one for each name. A name's line has the figures that exist by name; its other
    /// fields are empty.
    package func csv(of plan: RunPlan) -> String {
        let names = zip(plan.requestNames.all, metrics.names).map { csv(name: $0, $1) }
        return csv(of: plan.options.work) + names.joined()
    }

    package func csv(of work: LoadKind) -> String {
        let measured = Measured(metrics, of: work, in: length)
        let counts = Self.columns.map { figure in
            figure.integer(measured).map { "\($0)" } ?? figure.number(measured).map { fixed($0, 2) } ?? ""
        }
        return csv(counts, metrics.headline(work), name: "")
    }

    private func csv(name: String, _ metrics: NamedMetrics) -> String {
        let seconds = Double(length) / 1e9
        let counts = Self.columns.map { figure in
            figure.named?(metrics).map { count in
                figure.isInteger ? fixed(count, 0) : fixed(seconds > 0 ? count / seconds : 0, 2)
            } ?? ""
        }
        return csv(counts, metrics.latency, name: csvCell(name))
    }

    private func csv(_ counts: [String], _ times: LatencyHistogram, name: String) -> String {
        let summary = times.summary(percentiles: [50, 90, 99, 99.9])
        let percentiles = summary?.percentiles.map { milliseconds(Double($0.value)) } ?? ["", "", "", ""]
        let span = [fixed(Double(start) / 1e9, 3), fixed(Double(length) / 1e9, 3)]
        let rest = [
            summary.map { milliseconds(Double($0.maximum)) } ?? "", summary.map { milliseconds($0.mean) } ?? "", name,
        ]
        return (span + counts + percentiles + rest).joined(separator: ",") + "\n"
    }

    private func milliseconds(_ nanoseconds: Double) -> String { fixed(nanoseconds / 1e6, 6) }
}

/// A name for comma-separated values (RFC 4180 §2).
func csvCell(_ name: String) -> String {
    name.utf8.contains { ",\"\r\n".utf8.contains($0) } ? "\"\(name.replacingEach("\"", by: "\"\""))\"" : name
}

/// The log of single requests as comma-separated values, one line each. The lines of one thread are in the order of the
/// outcomes.
package struct RequestLogText {
    package static let head =
        "due_ns,start_ns,latency_ns,first_byte_ns,status,bytes_in,thread,new_connection,sent_again,name,error,warm_up\n"

    private let names: [[UInt8]]
    private var buffer: [UInt8] = []

    package init(_ names: [String] = []) { self.names = names.map { Array(csvCell($0).utf8) } }

    /// Returns the lines of a chunk. Write them before the next call, which reuses the memory.
    package mutating func lines(_ chunk: RequestLogBoard.Chunk) -> [UInt8] {
        buffer.removeAll(keepingCapacity: true)
        for record in chunk.records { append(record, UInt64(chunk.worker)) }
        return buffer
    }

    /// Appends a line octet by octet. Strings are too slow for a hundred thousand lines per second.
    private mutating func append(_ record: RequestRecord, _ thread: UInt64) {
        let numbers: InlineArray<9, UInt64?> = [
            record.due, record.start, record.latency, record.responseStart,
            record.status > 0 ? UInt64(record.status) : nil, record.bytesIn, thread, record.isNewConnection ? 1 : 0,
            record.isSentAgain ? 1 : 0,
        ]
        for index in numbers.indices {
            if let number = numbers[index] { append(number) }
            buffer.append(UInt8(ascii: ","))
        }
        if let name = record.name, names.indices.contains(name) { buffer += names[name] }
        buffer.append(UInt8(ascii: ","))
        if let failure = record.failure {
            buffer += "\(failure.phase.rawValue) \(failure.kind.rawValue)".utf8
            if failure.errno != 0 { buffer += " \(failure.errno)".utf8 }
        }
        buffer.append(UInt8(ascii: ","))
        buffer.append(UInt8(ascii: record.isOfWarmUp ? "1" : "0"))
        buffer.append(UInt8(ascii: "\n"))
    }

    private mutating func append(_ number: UInt64) {
        let start = buffer.count
        var rest = number
        repeat {
            buffer.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        buffer[start...].reverse()
    }
}
