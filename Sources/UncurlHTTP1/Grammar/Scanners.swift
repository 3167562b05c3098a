// The one file that reads without bounds checks. Each `at`, `pair`, `word` and `vector` stands behind a comparison with
// the end of the span; debug builds assert it again. The checks cost a third of a head's time, the optimiser proves few
// of them. Covered by the scanner-equality tests (`ScannersTests`, any alignment, length 0 to 70), by the parser tests,
// which are debug builds, and by every fuzz target under the address sanitizer, FuzzSplit above all.

extension Span<UInt8> {
    /// The octet at an index, checked.
    @inline(__always)
    func byte(_ index: Int) -> UInt8 { self[index] }

    /// The octet at an index the caller has compared with the end.
    @inline(__always)
    func at(_ index: Int) -> UInt8 {
        assert(index >= 0 && index < count)
        return unsafe self[unchecked: index]
    }

    /// Two octets, the first one lowest.
    @inline(__always)
    func pair(_ index: Int) -> UInt16 {
        assert(index >= 0 && index <= count - 2)
        return UInt16(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt16.self))
    }

    /// Eight octets, the first one lowest.
    @inline(__always)
    func word(_ index: Int) -> UInt64 {
        assert(index >= 0 && index <= count - 8)
        return UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    @inline(__always)
    func vector(_ index: Int) -> SIMD16<UInt8> {
        assert(index >= 0 && index <= count - 16)
        return unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: SIMD16<UInt8>.self)
    }

    /// The length of the token from `start` on, if ":" ends it before `end`; else 0. Letters and "-" are what names are
    /// made of nearly always.
    @inline(__always)
    func nameLength(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position &+ 16 <= count {
            if let lane = nameStops(position).first {
                let stop = position &+ lane
                if stop < end, at(stop) == ASCII.colon { return stop &- start }
                break
            }
            position &+= 16
        }
        return unusualNameLength(start, end)
    }

    @inline(never)
    private func unusualNameLength(_ start: Int, _ end: Int) -> Int {
        let stop = endOfToken(start, end)
        return stop < end && at(stop) == ASCII.colon ? stop &- start : 0
    }

    @inline(__always)
    private func nameStops(_ index: Int) -> Lanes {
        let octets = vector(index)
        return Lanes(((octets | all(0x20)) &- all(0x61) .>= all(26)) .& (octets .!= all(0x2D)))
    }

    /// The first index in `start..<end` that holds no token octet, else `end`.
    @inline(never)
    func endOfToken(_ start: Int, _ end: Int) -> Int {
        endOfNames(start, end, ASCII.isToken)
    }

    /// The same for the octets of a host name.
    @inline(never)
    func endOfHostName(_ start: Int, _ end: Int) -> Int {
        endOfNames(start, end, ASCII.isHostName)
    }

    /// `isAllowed` holds for letters and "-" and is asked for every other octet.
    @inline(__always)
    private func endOfNames(_ start: Int, _ end: Int, _ isAllowed: (UInt8) -> Bool) -> Int {
        var position = start
        while position < end, end >= 16 {
            // The last block overlaps the one before it, or what lies before `start`.
            let block = Swift.min(position, end &- 16)
            var stops = nameStops(block)
            stops.dropFirst(position &- block)
            while let lane = stops.next() {
                guard isAllowed(at(block &+ lane)) else { return block &+ lane }
            }
            position = block &+ 16
        }
        while position < end, isAllowed(at(position)) {
            position &+= 1
        }
        return position
    }

    /// The first index in `start..<end` that holds what no field value may hold, else `end`.
    @inline(__always)
    func endOfValue(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position &+ 16 <= end {
            if let lane = Lanes(valueStops(position)).first { return position &+ lane }
            position &+= 16
        }
        if position < end, end >= 16 {
            // The last block overlaps the one before it, or what lies before `start`.
            var stops = Lanes(valueStops(end &- 16))
            stops.dropFirst(position &- (end &- 16))
            return end &- 16 &+ stops.firstOrSixteen
        }
        while position < end, ASCII.isValue(at(position)) {
            position &+= 1
        }
        return position
    }

    /// The same where most often there is no such octet: `end` if so, else a place at or before the first, so that a
    /// caller that goes on from there looks at nothing twice for long.
    @inline(__always)
    func endOfLongValue(_ start: Int, _ end: Int) -> Int {
        guard end &- start >= 32 else { return endOfValue(start, end) }
        var position = start
        while position &+ 32 <= end {
            guard hasNoControl(position) else { return position }
            position &+= 32
        }
        return hasNoControl(end &- 32) ? end : position
    }

    /// Whether there is no control among 32 octets, not even HTAB.
    @inline(__always)
    private func hasNoControl(_ index: Int) -> Bool {
        let controls = isControl(vector(index)) .| isControl(vector(index &+ 16))
        let halves = unsafe unsafeBitCast(controls, to: SIMD2<UInt64>.self)
        return halves[0] | halves[1] == 0
    }

    @inline(__always)
    private func valueStops(_ index: Int) -> SIMDMask<SIMD16<Int8>> {
        let octets = vector(index)
        let controls = (octets .< all(0x20)) .& (octets .!= all(ASCII.tab))
        return controls .| (octets .== all(ASCII.delete))
    }

    /// The first index in `start..<end` that holds what no request target may hold, else `end`.
    @inline(__always)
    func endOfTarget(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position &+ 16 <= end {
            let octets = vector(position)
            let stops = Lanes((octets &- all(0x21) .>= all(94)) .| (octets .== all(ASCII.hash)))
            if let lane = stops.first { return position &+ lane }
            position &+= 16
        }
        while position < end, ASCII.isTarget(at(position)) {
            position &+= 1
        }
        return position
    }

    /// The first index in `start..<end` that holds neither SP nor HTAB, else `end`.
    @inline(__always)
    func endOfBlanks(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position < end, ASCII.isBlank(at(position)) {
            position &+= 1
        }
        return position
    }

    /// The end of `start..<end` without the blanks before it.
    @inline(__always)
    func trimmedEnd(_ start: Int, _ end: Int) -> Int {
        var end = end
        while end > start, ASCII.isBlank(at(end &- 1)) {
            end &-= 1
        }
        return end
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

/// The lanes that hold a control, HTAB among them.
@inline(__always)
private func isControl(_ octets: SIMD16<UInt8>) -> SIMDMask<SIMD16<Int8>> {
    (octets .< all(0x20)) .| (octets .== all(ASCII.delete))
}

/// Which lanes of a comparison are true, lowest first, as one bit in each four of a word. pmovmskb cannot be reached
/// from Swift without C; a shift and a narrowing of pairs can.
private struct Lanes {
    private var lanes: UInt64

    @inline(__always)
    init(_ mask: SIMDMask<SIMD16<Int8>>) {
        let pairs = unsafe unsafeBitCast(mask, to: SIMD8<UInt16>.self)
        // Of a pair's two octets, all ones or none, bit 4 of the first and bit 0 of the second.
        lanes = wordOf(narrowed((pairs &>> SIMD8(repeating: 4)) & SIMD8(repeating: 0x11)))
    }

    @inline(__always)
    var first: Int? {
        lanes == 0 ? nil : firstOrSixteen
    }

    /// Forgets the first lanes, at most fifteen of them.
    @inline(__always)
    mutating func dropFirst(_ count: Int) {
        lanes &= ~0 &<< UInt64(truncatingIfNeeded: count &* 4)
    }

    @inline(__always)
    var firstOrSixteen: Int {
        lanes.trailingZeroBitCount &>> 2
    }

    @inline(__always)
    mutating func next() -> Int? {
        guard let lane = first else { return nil }
        lanes &= lanes &- 1
        return lane
    }
}

/// The low octets of eight pairs. Lane by lane, which becomes one instruction: the conversion of the library may be a
/// call.
@inline(__always)
private func narrowed(_ pairs: SIMD8<UInt16>) -> SIMD8<UInt8> {
    var octets = SIMD8<UInt8>()
    for lane in 0..<8 {
        octets[lane] = UInt8(truncatingIfNeeded: pairs[lane])
    }
    return octets
}

@inline(__always)
private func wordOf(_ octets: SIMD8<UInt8>) -> UInt64 {
    unsafe unsafeBitCast(octets, to: UInt64.self)
}

/// Walks over the octets that no field value may hold, line ends among them, and over HTAB, from the first to the last.
///
/// The blocks follow each other at a fixed stride whatever is found in them, so that the processor works on the next
/// ones while the lines of this one are taken apart. Searching from each line's start instead makes every line wait for
/// the one before it: 21 ns a line against 11.
struct StopWalk {
    /// One bit in each two is set for a stop; the lowest stands for the octet at `base`.
    private var word: UInt64 = 0
    private var base: Int

    /// A shorter span is not walked over at all.
    static var blockBytes: Int { 32 }

    @inline(__always)
    init(at start: Int) {
        base = start &- Self.blockBytes
    }

    /// The place of the next stop; nil at the end of the span.
    @inline(__always)
    mutating func advance(_ bytes: Span<UInt8>) -> Int? {
        while word == 0 {
            base &+= Self.blockBytes
            if base &+ Self.blockBytes <= bytes.count {
                word = Self.stops(bytes, base)
            } else {
                guard base < bytes.count, bytes.count >= Self.blockBytes else { return nil }
                // The last block overlaps the one before it; what was seen there is struck out.
                let seen = base &- (bytes.count &- Self.blockBytes)
                base &-= seen
                word = Self.lastStops(bytes, base) & ~0 &<< UInt64(truncatingIfNeeded: seen &* 2)
            }
        }
        let stop = base &+ word.trailingZeroBitCount &>> 1
        word &= word &- 1
        return stop
    }

    /// Leaves out the LF behind the stop just found, a CR, if both were read together; else it is the next stop.
    @inline(__always)
    mutating func passLineFeed() {
        word &= word &- 1
    }

    /// Out of line, and no method: the walk is to stay in registers.
    @inline(never)
    private static func lastStops(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
        stops(bytes, index)
    }

    /// The stops among 32 octets.
    @inline(__always)
    private static func stops(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
        let pairs = stopPairs(bytes.vector(index))
        let more = stopPairs(bytes.vector(index &+ 16))
        let lanes = SIMD16(lowHalf: narrowed(pairs), highHalf: narrowed(more))
        // In each pair: lanes in bits 0, 2, 8 and 10, which are drawn together.
        let fours = unsafe unsafeBitCast(lanes, to: SIMD8<UInt16>.self)
        return wordOf(narrowed((fours | (fours &>> SIMD8(repeating: 4))) & SIMD8(repeating: 0x55)))
    }

    /// For each two octets, bits 0 and 2.
    @inline(__always)
    private static func stopPairs(_ octets: SIMD16<UInt8>) -> SIMD8<UInt16> {
        let pairs = unsafe unsafeBitCast(isControl(octets), to: SIMD8<UInt16>.self)
        return (pairs &>> SIMD8(repeating: 6)) & SIMD8(repeating: 0x05)
    }
}
