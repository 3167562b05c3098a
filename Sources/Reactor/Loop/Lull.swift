/// What a loop does when a burst of events is over.
struct Lull {
    /// Turns that a call waits for a lull that does not come: a busy turn takes a fraction of a millisecond.
    private static let patience = 4

    private var calls: [() -> Void] = []
    private var turns = 0

    var isEmpty: Bool { calls.isEmpty }

    mutating func add(_ call: @escaping () -> Void) { calls.append(call) }

    /// Asked once a turn.
    mutating func isDue(afterEvents count: Int) -> Bool {
        guard !calls.isEmpty else { return false }
        turns += 1
        return count == 0 || turns >= Lull.patience
    }

    /// For their caller to call: they may ask for the next lull.
    mutating func take() -> [() -> Void] {
        defer { (calls, turns) = ([], 0) }
        return calls
    }
}
