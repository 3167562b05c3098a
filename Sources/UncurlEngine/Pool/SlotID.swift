/// Names an entry of a loop's table: the slot, and the generation that tells its entry from earlier ones.
public struct SlotID: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
}

/// Names an exchange from its start to its outcome, and nothing afterwards.
public typealias ExchangeID = SlotID

/// Names a connection while it is open.
typealias ConnectionID = SlotID

/// Objects that are found by slot in constant time. Stale names are recognised by their generation.
struct SlotTable<Entry: AnyObject> {
    private var slots: [(entry: Entry?, generation: UInt32)] = []
    private var free: [UInt32] = []
    /// How many entries there have been: the number of the entry that was reserved last.
    private(set) var opened = 0

    var count: Int { slots.count - free.count }

    /// Reserves an id for an entry that needs to know it; ``fill(_:with:)`` must follow.
    mutating func reserve() -> SlotID {
        opened += 1
        let slot = free.popLast() ?? grow()
        return SlotID(slot: slot, generation: slots[Int(slot)].generation)
    }

    mutating func fill(_ id: SlotID, with entry: Entry) { slots[Int(id.slot)].entry = entry }

    @inline(__always)
    subscript(id: SlotID) -> Entry? {
        let slot = Int(id.slot)
        guard slot < slots.count, slots[slot].generation == id.generation else { return nil }
        return slots[slot].entry
    }

    mutating func remove(_ id: SlotID) {
        guard self[id] != nil else { return }
        slots[Int(id.slot)].entry = nil
        slots[Int(id.slot)].generation &+= 1
        free.append(id.slot)
    }

    /// A copy, so that entries may leave the table during an iteration.
    var all: [Entry] { slots.compactMap(\.entry) }

    private mutating func grow() -> UInt32 {
        slots.append((nil, 0))
        return UInt32(slots.count - 1)
    }
}
