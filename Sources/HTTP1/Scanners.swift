// The one file that reads without bounds checks. Each `at`, `pair`, `word` and `vector` stands behind a comparison with the
// end of the span; debug builds assert it again. The checks cost a third of a head's time, the optimiser proves few of
// them. Covered by the scanner-equality tests (`ScannersTests`, any alignment, length 0 to 70), by the parser tests, which
// are debug builds, and by every fuzz target under the address sanitizer, FuzzSplit above all.

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

    /// As `endOfToken`, for names, which end with ":": the first octet that is no letter, digit or "-" is nearly always that.
    @inline(__always)
    func endOfName(_ start: Int, _ end: Int) -> Int {
        guard start &+ 16 <= count else { return endOfToken(start, end) }
        let octets = vector(start)
        let noLetter = (octets | all(0x20)) &- all(0x61) .>= all(26)
        let noDigit = octets &- all(ASCII.zero) .>= all(10)
        let stops = Lanes(noLetter .& noDigit .& (octets .!= all(0x2D)))
        let stop = start &+ stops.firstOrSixteen
        return stop < end && at(stop) == ASCII.colon ? stop : endOfToken(start, end)
    }

    /// The first index in `start..<end` that holds no token octet, else `end`.
    @inline(never)
    func endOfToken(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position < end, end >= 16 {
            // The last block overlaps the one before it, or what lies before `start`.
            let block = Swift.min(position, end &- 16)
            let octets = vector(block)
            // Letters and "-" are what names are made of; any other octet is looked up on its own.
            var stops = Lanes(((octets | all(0x20)) &- all(0x61) .>= all(26)) .& (octets .!= all(0x2D)))
            stops.dropFirst(position &- block)
            while let lane = stops.next() {
                guard ASCII.isToken(at(block &+ lane)) else { return block &+ lane }
            }
            position = block &+ 16
        }
        while position < end, ASCII.isToken(at(position)) {
            position &+= 1
        }
        return position
    }

    /// The first index in `start..<end` that holds what no field value may hold, else `end`.
    @inline(__always)
    func endOfValue(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position &+ 16 <= end {
            if let lane = valueStops(position).first { return position &+ lane }
            position &+= 16
        }
        if position < end, end >= 16 {
            // The last block overlaps the one before it, or what lies before `start`.
            var stops = valueStops(end &- 16)
            stops.dropFirst(position &- (end &- 16))
            return end &- 16 &+ stops.firstOrSixteen
        }
        while position < end, ASCII.isValue(at(position)) {
            position &+= 1
        }
        return position
    }

    /// The same where most often there is no such octet: blocks are looked at in pairs.
    @inline(__always)
    func endOfLongValue(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position &+ 32 <= end, valueStops(position).isEmpty(with: valueStops(position &+ 16)) {
            position &+= 32
        }
        return position == end ? end : endOfValue(position, end)
    }

    @inline(__always)
    private func valueStops(_ index: Int) -> Lanes {
        let octets = vector(index)
        let controls = (octets .< all(0x20)) .& (octets .!= all(ASCII.tab))
        return Lanes(controls .| (octets .== all(ASCII.delete)))
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

/// The set lanes of a comparison, lowest first, as two words with eight bits a lane. pmovmskb cannot be reached from Swift
/// without C, and a narrowing conversion is not always inlined; two moves are.
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
    func isEmpty(with other: Lanes) -> Bool {
        (low | other.low) | (high | other.high) == 0
    }

    @inline(__always)
    var first: Int? {
        guard low | high != 0 else { return nil }
        let word = low != 0 ? low : high
        return word.trailingZeroBitCount &>> 3 &+ (low != 0 ? 0 : 8)
    }

    /// Forgets the first lanes, at most fifteen of them.
    @inline(__always)
    mutating func dropFirst(_ count: Int) {
        if count >= 8 {
            low = 0
            high &= ~0 &<< UInt64((count &- 8) &* 8)
        } else {
            low &= ~0 &<< UInt64(count &* 8)
        }
    }

    @inline(__always)
    var firstOrSixteen: Int {
        let word = low != 0 ? low : high
        return word.trailingZeroBitCount &>> 3 &+ (low != 0 ? 0 : 8)
    }

    @inline(__always)
    mutating func next() -> Int? {
        guard let lane = first else { return nil }
        if lane < 8 {
            low &= ~(0xFF &<< UInt64(lane &* 8))
        } else {
            high &= ~(0xFF &<< UInt64(lane &* 8))
        }
        return lane
    }
}

/// Walks over the octets that no field value may hold, line ends among them, and over HTAB, from the first to the last.
///
/// The blocks follow each other at a fixed stride whatever is found in them, so that the processor works on the next ones
/// while the lines of this one are taken apart. Searching from each line's start instead makes every line wait for the one
/// before it: 21 ns a line against 11.
struct StopWalk {
    /// The lowest of each eight bits is set for a stop; the first of these eight octets stands at `base`.
    private var word: UInt64 = 0
    private var base: Int
    /// The same for the eight octets before `next`.
    private var high: UInt64 = 0
    /// The first octet not looked at.
    private var next: Int

    @inline(__always)
    init(at start: Int) {
        base = start
        next = start
    }

    /// The place of the next stop; nil at the end of the span, or if that is too short to be read in blocks.
    @inline(__always)
    mutating func advance(_ bytes: Span<UInt8>) -> Int? {
        if word == 0 {
            if high != 0 {
                word = high
                high = 0
                base = next &- 8
            } else {
                guard refill(bytes) else { return nil }
            }
        }
        let stop = base &+ word.trailingZeroBitCount &>> 3
        word &= word &- 1
        return stop
    }

    /// Leaves out the LF behind the stop just found, a CR, where both were read together; else it is the next stop.
    @inline(__always)
    mutating func passLineFeed(_ stop: Int) {
        // Behind the last of the eight there is nothing: the shift empties the mask.
        word &= ~(0x100 &<< UInt64(truncatingIfNeeded: (stop &- base) &* 8))
    }

    /// Goes on to the next block with a stop in it.
    @inline(__always)
    private mutating func refill(_ bytes: Span<UInt8>) -> Bool {
        // Long values hold no stop for many blocks: two at a time.
        while next &+ 32 <= bytes.count {
            let first = Self.stops(bytes.vector(next))
            let second = Self.stops(bytes.vector(next &+ 16))
            let both = first | second
            guard both[0] | both[1] == 0 else {
                if first[0] | first[1] != 0 {
                    take(first, next)
                } else {
                    take(second, next &+ 16)
                }
                return true
            }
            next &+= 32
        }
        while next &+ 16 <= bytes.count {
            take(Self.stops(bytes.vector(next)), next)
            if word != 0 { return true }
        }
        return loadLast(bytes)
    }

    @inline(__always)
    private static func stops(_ octets: SIMD16<UInt8>) -> SIMD2<UInt64> {
        let stops = (octets .< all(0x20)) .| (octets .== all(ASCII.delete))
        return unsafe unsafeBitCast(stops, to: SIMD2<UInt64>.self)
    }

    /// Makes the block at `place` the current one; `word` is 0 only if there is no stop in it.
    @inline(__always)
    private mutating func take(_ stops: SIMD2<UInt64>, _ place: Int) {
        let low = stops[0] & 0x0101_0101_0101_0101
        let rest = stops[1] & 0x0101_0101_0101_0101
        next = place &+ 16
        word = low != 0 ? low : rest
        base = low != 0 ? place : place &+ 8
        high = low != 0 ? rest : 0
    }

    /// The last block overlaps the one before it; what was seen there is struck out.
    @inline(never)
    private mutating func loadLast(_ bytes: Span<UInt8>) -> Bool {
        guard next < bytes.count, bytes.count >= 16 else { return false }
        let seen = next &- (bytes.count &- 16)
        var stops = Self.stops(bytes.vector(bytes.count &- 16))
        if seen >= 8 {
            stops[0] = 0
            stops[1] &= ~0 &<< UInt64((seen &- 8) &* 8)
        } else {
            stops[0] &= ~0 &<< UInt64(seen &* 8)
        }
        take(stops, bytes.count &- 16)
        return word != 0
    }
}
