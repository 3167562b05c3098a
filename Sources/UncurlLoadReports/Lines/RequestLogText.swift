package import UncurlLoad

/// The log of single requests as comma-separated values, one line each. The lines of one thread are in the order of the
/// outcomes.
package struct RequestLogText {
    package static let head =
        "due_ns,start_ns,latency_ns,first_byte_ns,status,bytes_in,thread,new_connection,sent_again,name,error,warm_up\n"

    private let names: [[UInt8]]
    private var buffer: [UInt8] = []

    package init(_ names: [String] = []) { self.names = names.map { Array(NamedReport.cell($0).utf8) } }

    /// Returns the lines of a chunk. Write them before the next call, which reuses the memory.
    package mutating func lines(_ chunk: RequestLogBoard.Chunk) -> [UInt8] {
        buffer.removeAll(keepingCapacity: true)
        for record in chunk.records { append(record, UInt64(chunk.worker)) }
        return buffer
    }

    /// Appends a line octet by octet. Strings are too slow for a hundred thousand lines per second.
    private mutating func append(_ record: RequestRecord, _ thread: UInt64) {
        if let due = record.due { append(due) }
        buffer.append(UInt8(ascii: ","))
        append(record.start)
        buffer.append(UInt8(ascii: ","))
        append(record.latency)
        buffer.append(UInt8(ascii: ","))
        if let start = record.responseStart { append(start) }
        buffer.append(UInt8(ascii: ","))
        if record.status > 0 { append(UInt64(record.status)) }
        buffer.append(UInt8(ascii: ","))
        append(record.bytesIn)
        buffer.append(UInt8(ascii: ","))
        append(thread)
        buffer.append(UInt8(ascii: ","))
        buffer.append(UInt8(ascii: record.isNewConnection ? "1" : "0"))
        buffer.append(UInt8(ascii: ","))
        buffer.append(UInt8(ascii: record.isSentAgain ? "1" : "0"))
        buffer.append(UInt8(ascii: ","))
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
