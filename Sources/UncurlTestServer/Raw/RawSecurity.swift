internal import UncurlTLS

/// The TLS of one scripted connection. Scripts are written in plaintext and sent as ciphertext.
@safe final class RawSecurity {
    let session: TLSSession
    private let output = CiphertextBuffer()
    private(set) var isOpen = false
    /// The remaining records of a ticket whose first record has been sent.
    private var ticketRest: [UInt8] = []

    /// The result of a read.
    struct Incoming {
        var plaintext: [UInt8] = []
        var isEnd = false
        var error: TLSError?
    }

    init(_ context: TLSServerContext) throws(TLSError) {
        session = try TLSSession(server: context, output: output)
    }

    func receive(_ input: [UInt8]) -> Incoming {
        var incoming = Incoming()
        do throws(TLSError) {
            try receive(input, &incoming)
        } catch {
            incoming.error = error
        }
        return incoming
    }

    private func receive(_ input: [UInt8], _ incoming: inout Incoming) throws(TLSError) {
        var offset = 0
        if !isOpen {
            switch try session.handshake(input.span, from: &offset) {
            case .needsInput, .needsRoots, .trust, .identity: return
            case .done: isOpen = true
            }
        }
        // Decryption can only shrink a record, so this is enough for the input and for an incomplete record before it.
        let room = input.count + TLSRecord.maximumPlaintext
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: room)
        defer { unsafe buffer.deallocate() }
        while true {
            switch try unsafe session.read(input.span, from: &offset, into: buffer) {
            case .bytes(let count): unsafe incoming.plaintext += buffer[..<count]
            case .needsInput: return
            case .closed:
                incoming.isEnd = true
                return
            }
        }
    }

    /// One record for at most 16 KiB.
    func encrypt(_ bytes: [UInt8]) throws(TLSError) -> [UInt8] {
        _ = try session.write(bytes.span)
        return output.take()
    }

    func closeNotify() -> [UInt8] {
        session.close()
        return output.take()
    }

    func updateKeys(askingPeer: Bool) -> [UInt8] {
        _ = session.updateKeys(askingPeer: askingPeer)
        return output.take()
    }

    func sendTicket() -> [UInt8] {
        _ = session.sendTicket()
        return output.take()
    }

    /// The first record of a ticket: five octets of header, the last two of them the length of what follows
    /// (RFC 8446 §5.1).
    func beginTicket() -> [UInt8] {
        let ticket = sendTicket()
        guard ticket.count > 5 else { return ticket }
        let end = min(5 + Int(ticket[3]) << 8 + Int(ticket[4]), ticket.count)
        ticketRest = Array(ticket[end...])
        return Array(ticket[..<end])
    }

    func endTicket() -> [UInt8] {
        defer { ticketRest = [] }
        return ticketRest
    }

    /// Messages that TLS must send by itself: handshake messages, answers to key updates, alerts.
    func takeOutput() -> [UInt8] { output.take() }
}
