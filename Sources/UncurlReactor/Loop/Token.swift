/// Names a registration: a slot, and the generation that tells its present holder from earlier ones.
///
/// A look-up by descriptor would give an event for a closed socket to the one that got its number in the same batch; a
/// stale token finds no handler.
public struct Token: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    init(packed: UInt64) {
        slot = UInt32(truncatingIfNeeded: packed)
        generation = UInt32(truncatingIfNeeded: packed >> 32)
    }

    var packed: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}
