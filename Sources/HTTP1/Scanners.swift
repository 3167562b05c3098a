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

    /// As `endOfToken`, for names, which end with ":": the first stop is looked at for that before anything else.
    @inline(__always)
    func endOfName(_ start: Int, _ end: Int) -> Int {
        guard start &+ 16 <= end else { return endOfToken(start, end) }
        let octets = vector(start)
        var stops = Lanes(((octets | all(0x20)) &- all(0x61) .>= all(26)) .& (octets .!= all(0x2D)))
        guard let lane = stops.next() else { return endOfToken(start &+ 16, end) }
        let stop = start &+ lane
        return byte(stop) == ASCII.colon ? stop : endOfToken(stop, end)
    }

    /// The first index in `start..<end` that holds no token octet, else `end`.
    @inline(__always)
    func endOfToken(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position &+ 16 <= end {
            let octets = vector(position)
            // Letters and "-" are what names are made of; any other octet is looked up on its own.
            var stops = Lanes(((octets | all(0x20)) &- all(0x61) .>= all(26)) .& (octets .!= all(0x2D)))
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
            var stops = Lanes((octets .< all(0x20)) .| (octets .== all(0x7F)))
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
            var stops = Lanes((octets &- all(0x21) .>= all(94)) .| (octets .== all(ASCII.hash)))
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

/// The same octet in every lane. Spelt out, because the operators that take a scalar run lane by lane.
@inline(__always)
private func all(_ octet: UInt8) -> SIMD16<UInt8> {
    SIMD16(repeating: octet)
}

/// The set lanes of a comparison, lowest first, four bits each in one word. pmovmskb cannot be reached from Swift without
/// C; a shift and a narrowing move do as well.
private struct Lanes {
    private var bits: UInt64

    @inline(__always)
    init(_ mask: SIMDMask<SIMD16<Int8>>) {
        // Masks are all ones or all zeros in each lane, so four bits shifted across a pair of lanes land right.
        let pairs = unsafe unsafeBitCast(mask, to: SIMD8<UInt16>.self) &>> SIMD8<UInt16>(repeating: 4)
        bits = unsafe unsafeBitCast(SIMD8<UInt8>(truncatingIfNeeded: pairs), to: UInt64.self)
    }

    @inline(__always)
    mutating func next() -> Int? {
        guard bits != 0 else { return nil }
        let lane = bits.trailingZeroBitCount &>> 2
        bits &= ~(0xF &<< UInt64(lane &* 4))
        return lane
    }
}
