/// Where a field stands in its block of octets.
///
/// Two words, written and read as such: fields of their own sizes would be stored one by one and loaded together, and
/// the processor waits where it has to put a load together from several stores.
struct FieldEntry: Sendable {
    /// Start of the name, start of the value.
    private var starts: UInt64
    /// Length of the value, of the name in 16 bits, the known name in 8, 1 if folded in 8.
    private var rest: UInt64

    /// Places and lengths are bounded by the limits on a head, 2^32 octets, and on a name, 2^16.
    @inline(__always)
    init(nameStart: Int, nameLength: Int, valueStart: Int, valueEnd: Int, known: KnownField) {
        starts = UInt64(truncatingIfNeeded: nameStart) | UInt64(truncatingIfNeeded: valueStart) &<< 32
        rest =
            UInt64(truncatingIfNeeded: valueEnd &- valueStart) | UInt64(truncatingIfNeeded: nameLength) &<< 32
            | UInt64(known.rawValue) &<< 48
    }

    @inline(__always)
    var name: Range<Int> {
        let start = Int(starts & 0xFFFF_FFFF)
        return start..<(start &+ Int(rest &>> 32 & 0xFFFF))
    }

    @inline(__always)
    var value: Range<Int> {
        let start = Int(starts &>> 32)
        return start..<(start &+ Int(rest & 0xFFFF_FFFF))
    }

    @inline(__always)
    func isKnown(_ field: KnownField) -> Bool {
        UInt8(truncatingIfNeeded: rest &>> 48) == field.rawValue
    }

    var known: KnownField { KnownField(rawValue: UInt8(truncatingIfNeeded: rest &>> 48)) ?? .other }

    /// The value holds folds, each of which is to be read as a space.
    var isFolded: Bool { rest &>> 56 != 0 }

    /// Makes the value reach to the end of a fold that brought more of it.
    mutating func extend(by fold: Range<Int>) {
        let isFirst = value.isEmpty
        self = FieldEntry(
            nameStart: name.lowerBound,
            nameLength: name.count,
            valueStart: isFirst ? fold.lowerBound : value.lowerBound,
            valueEnd: fold.upperBound,
            known: known
        )
        if !isFirst { rest |= 1 &<< 56 }
    }

    /// Its folds have been read.
    mutating func unfold(toLength length: Int) {
        let names = rest & 0x00FF_FFFF_0000_0000
        rest = names | UInt64(truncatingIfNeeded: length)
    }
}

/// The entries of a field section, with a note of the known names among them.
struct FieldTable: Sendable {
    /// Never shrinks: only the first `count` entries mean anything.
    var slots: [FieldEntry] = []
    private(set) var count = 0
    /// The `KnownField.bit` of each known field that may be among the entries.
    private(set) var seen: UInt64 = 0
    /// The same for those that may be there more than once.
    private(set) var repeated: UInt64 = 0
    /// In `seen`, where no known field has it: every connection has a parser, which is to stay small.
    private static let foldBit: UInt64 = 1 << 63
    /// A value may hold folds.
    var hasFolds: Bool { seen & Self.foldBit != 0 }

    subscript(index: Int) -> FieldEntry {
        @inline(__always) get { slots[index] }
        set { slots[index] = newValue }
    }

    @inline(__always)
    mutating func append(_ entry: FieldEntry) {
        if count == slots.count {
            grow(with: entry)
        } else {
            slots[count] = entry
        }
        count &+= 1
        repeated |= seen & entry.known.bit
        seen |= entry.known.bit
    }

    /// The last value goes on in a fold.
    mutating func extendLast(by fold: Range<Int>) {
        slots[count - 1].extend(by: fold)
        seen |= Self.foldBit
    }

    /// Takes note of entries that were written to `slots` behind the first `count`.
    @inline(__always)
    mutating func commit(count: Int, seen: UInt64, repeated: UInt64) {
        self.count = count
        self.seen = seen
        self.repeated = repeated
    }

    /// Out of line, and in steps of sixteen: most heads fit the first.
    @inline(never)
    private mutating func grow(with entry: FieldEntry) {
        slots.reserveCapacity(max(16, slots.count * 2))
        slots.append(entry)
        while slots.count < slots.capacity {
            slots.append(entry)
        }
    }

    /// With as many slots as there are entries.
    func trimmed() -> FieldTable {
        var copy = self
        copy.slots = Array(slots[..<count])
        return copy
    }

    @inline(__always)
    mutating func removeAll() {
        count = 0
        seen = 0
        repeated = 0
    }

    /// Puts the last entry in the place of another one.
    mutating func moveLast(to index: Int) {
        slots[index] = slots[count - 1]
        count -= 1
    }

    mutating func remove(where isRemoved: (Int, FieldEntry) -> Bool) {
        var kept = 0
        for index in 0..<count where !isRemoved(index, slots[index]) {
            slots[kept] = slots[index]
            kept += 1
        }
        count = kept
    }

    /// The first entry of a known field.
    @inline(__always)
    func first(_ known: KnownField) -> FieldEntry? {
        seen & known.bit == 0 ? nil : search(known)
    }

    @inline(never)
    private func search(_ known: KnownField) -> FieldEntry? {
        guard known != .other else { return nil }
        for index in 0..<count where slots[index].isKnown(known) {
            return slots[index]
        }
        return nil
    }

    /// Whether there is exactly one field of this known name.
    @inline(__always)
    func isOnly(_ known: KnownField) -> Bool {
        if seen & known.bit == 0 { return false }
        return repeated & known.bit == 0 || count(known) == 1
    }

    /// Counts, since removals leave the notes as they were.
    @inline(never)
    private func count(_ known: KnownField) -> Int {
        (0..<count).count { slots[$0].isKnown(known) }
    }
}
