// The one file that loads more than an octet at a time. Every load is bounds-checked by `RawSpan` and asks for types of
// which each bit pattern is a value, which is all its `unsafe` mark is about. Covered by the scanner-equality tests
// (`ScannersTests`, any alignment, length 0 to 70) and by every fuzz target, FuzzSplit above all.

extension Span<UInt8> {
    @inline(__always)
    func byte(_ index: Int) -> UInt8 { self[index] }

    /// Two octets, the first one lowest.
    @inline(__always)
    func pair(_ index: Int) -> UInt16 {
        UInt16(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt16.self))
    }

    /// Eight octets, the first one lowest.
    @inline(__always)
    func word(_ index: Int) -> UInt64 {
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    @inline(__always)
    func vector(_ index: Int) -> SIMD16<UInt8> {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
    }

    /// The first index in `start..<end` that holds no token octet, else `end`.
    @inline(__always)
    func endOfToken(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position &+ 16 <= end {
            let octets = vector(position)
            // Letters and "-" are what names are made of; any other octet is looked up on its own.
            var stops = Lanes(((octets | 0x20) &- 0x61 .>= 26) .& (octets .!= 0x2D))
            while let lane = stops.next() {
                guard ASCII.isToken(byte(position &+ lane)) else { return position &+ lane }
            }
            position &+= 16
        }
        while position < end, ASCII.isToken(byte(position)) {
            position &+= 1
        }
        return position
    }

    /// The first index in `start..<end` that holds what no field value may hold, else `end`.
    @inline(__always)
    func endOfValue(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position &+ 16 <= end {
            let octets = vector(position)
            var stops = Lanes((octets .< 0x20) .| (octets .== 0x7F))
            while let lane = stops.next() {
                guard byte(position &+ lane) == ASCII.tab else { return position &+ lane }
            }
            position &+= 16
        }
        while position < end, ASCII.isValue(byte(position)) {
            position &+= 1
        }
        return position
    }

    /// The first index in `start..<end` that holds what no request target may hold, else `end`.
    @inline(__always)
    func endOfTarget(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position &+ 16 <= end {
            let octets = vector(position)
            var stops = Lanes((octets &- 0x21 .>= 94) .| (octets .== ASCII.hash))
            if let lane = stops.next() { return position &+ lane }
            position &+= 16
        }
        while position < end, ASCII.isTarget(byte(position)) {
            position &+= 1
        }
        return position
    }

    /// The first index in `start..<end` that holds neither SP nor HTAB, else `end`.
    @inline(__always)
    func endOfBlanks(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position < end, ASCII.isBlank(byte(position)) {
            position &+= 1
        }
        return position
    }
}

/// An array of the same octets.
func copy(_ octets: Span<UInt8>) -> [UInt8] {
    octets.indices.map { octets[$0] }
}

/// The set lanes of a comparison, lowest first. Two 64-bit halves with eight bits a lane: pmovmskb cannot be reached from
/// Swift without C, and these cost two moves.
private struct Lanes {
    private var low: UInt64
    private var high: UInt64

    @inline(__always)
    init(_ mask: SIMDMask<SIMD16<Int8>>) {
        let halves = unsafe unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        low = halves[0]
        high = halves[1]
    }

    @inline(__always)
    mutating func next() -> Int? {
        if low != 0 {
            let lane = low.trailingZeroBitCount &>> 3
            low &= ~(0xFF &<< UInt64(lane &* 8))
            return lane
        }
        guard high != 0 else { return nil }
        let lane = high.trailingZeroBitCount &>> 3
        high &= ~(0xFF &<< UInt64(lane &* 8))
        return lane &+ 8
    }
}
