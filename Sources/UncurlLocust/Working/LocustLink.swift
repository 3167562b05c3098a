internal import CUncurlLinux
internal import UncurlLibC
import UncurlLoad
import UncurlReactor

/// The connection to a master, with the bytes that must still be sent. Its thread waits for nothing else.
struct LocustLink: ~Copyable {
    private let socket: Socket
    private var outgoing: [UInt8] = []
    private var sent = 0

    /// The most unsent bytes. A master that reads so little counts as gone.
    private static let backlogLimit = ZMTP.frameLimit
    private static let connectSpan: CInt = 5_000

    /// Connects, in at most five seconds.
    init(to address: SocketAddress) throws(UsageError) {
        do throws(Errno) {
            let socket = try Socket(address.family)
            if try !socket.connect(to: address) {
                guard Self.wait(for: Int16(POLLOUT), on: socket.number, milliseconds: Self.connectSpan) else {
                    throw .timedOut
                }
                try socket.finishConnect()
            }
            socket.disableNagle()
            // As in Locust's own workers: a master whose machine has failed sends no FIN.
            socket.enableKeepAlive()
            self.socket = socket
        } catch {
            throw .unreachable("\(address): \(error)")
        }
    }

    mutating func send(_ bytes: [UInt8]) throws(UsageError) {
        outgoing += bytes
        try flush()
        guard outgoing.count - sent <= Self.backlogLimit else { throw .gone("it no longer reads") }
    }

    /// Waits for bytes, for at most this time; empty if none came.
    mutating func receive(milliseconds: CInt) throws(UsageError) -> [UInt8] {
        let events = Int16(POLLIN) | (outgoing.isEmpty ? 0 : Int16(POLLOUT))
        guard Self.wait(for: events, on: socket.number, milliseconds: milliseconds) else { return [] }
        try flush()
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let number = socket.number
        let count = unsafe chunk.withUnsafeMutableBytes { unsafe uncurl_recv(number, $0.baseAddress, $0.count) }
        if count > 0 { return Array(chunk.prefix(count)) }
        if count == 0 { throw .gone("it closed the connection") }
        switch Errno(code: uncurl_errno()) {
        case .wouldBlock, .interrupted: return []
        case let error: throw .gone("\(error)")
        }
    }

    private mutating func flush() throws(UsageError) {
        while sent < outgoing.count {
            let taken: Int?
            do throws(Errno) {
                taken = try socket.write(outgoing.span.extracting(sent...))
            } catch {
                throw .gone("\(error)")
            }
            guard let taken else { return }
            sent += taken
        }
        (outgoing, sent) = ([], 0)
    }

    /// Returns false if the time has passed or a signal came.
    private static func wait(for events: Int16, on number: CInt, milliseconds: CInt) -> Bool {
        var descriptor = pollfd(fd: number, events: events, revents: 0)
        return unsafe poll(&descriptor, 1, milliseconds) > 0
    }
}
