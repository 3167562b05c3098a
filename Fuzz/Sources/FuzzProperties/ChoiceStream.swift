import UncurlHTTP1

/// Decodes options from the leading octets of a fuzz input, so that the configuration is fuzzed too. What is left is the
/// raw part. Past the end every choice is 0: the default.
public struct ChoiceStream {
    private let octets: [UInt8]
    private var position = 0

    public init(_ octets: [UInt8]) {
        self.octets = octets
    }

    public var rest: [UInt8] { Array(octets[min(position, octets.count)...]) }

    public mutating func octet() -> UInt8 {
        guard position < octets.count else { return 0 }
        defer { position += 1 }
        return octets[position]
    }

    /// Below `bound`.
    public mutating func number(below bound: Int) -> Int {
        bound > 1 ? Int(octet()) % bound : 0
    }

    public mutating func context() -> ResponseContext {
        switch number(below: 4) {
        case 0: .other(offeredUpgrade: false)
        case 1: .head
        case 2: .connect
        default: .other(offeredUpgrade: true)
        }
    }

    public mutating func leniency() -> Leniency {
        Leniency(rawValue: octet() & 0x0F)
    }

    /// The defaults for 0; otherwise each limit small enough for a short input to reach it.
    public mutating func limits() -> ParserLimits {
        var limits = ParserLimits()
        let choice = octet()
        guard choice > 0 else { return limits }
        let small = UInt16(choice)
        if choice & 1 != 0 { limits.headBytes = UInt32(small) * 2 }
        if choice & 2 != 0 { limits.fieldLineBytes = UInt32(small) / 2 + 8 }
        if choice & 4 != 0 { limits.fieldCount = small % 5 }
        if choice & 8 != 0 { limits.fieldNameBytes = small % 16 + 1 }
        if choice & 16 != 0 {
            limits.chunkLineBytes = small % 24 + 1
            limits.chunkExtensionBytes = small % 8
            limits.totalChunkExtensionBytes = UInt32(small) % 12
        }
        if choice & 32 != 0 {
            limits.trailerBytes = UInt32(small) % 32
            limits.bodyBytes = UInt64(small) % 24
        }
        if choice & 64 != 0 {
            limits.informationalCount = small % 3
            limits.informationalBytes = UInt32(small)
        }
        if choice & 128 != 0 {
            limits.targetBytes = UInt32(small) % 16
            limits.methodBytes = small % 8
        }
        return limits
    }

    /// Up to eight lengths of pieces.
    public mutating func cuts() -> Cuts {
        Cuts((0..<number(below: 9)).map { _ in Int(octet()) % 40 + 1 })
    }
}
