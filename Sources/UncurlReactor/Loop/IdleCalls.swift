/// The calls that a loop makes once no socket is ready any more.
struct IdleCalls {
    /// The most turns that a call waits for an idle turn. A busy turn takes a fraction of a millisecond.
    private static let patience = 4

    private var calls: [() -> Void] = []
    private var turns = 0

    var isEmpty: Bool { calls.isEmpty }

    mutating func add(_ call: @escaping () -> Void) { calls.append(call) }

    /// Counts a turn. Returns true if the calls are due.
    mutating func endTurn(events count: Int) -> Bool {
        guard !calls.isEmpty else { return false }
        turns += 1
        return count == 0 || turns >= IdleCalls.patience
    }

    /// Removes and returns the calls. The caller makes them, and each may add another for the next time.
    mutating func take() -> [() -> Void] {
        defer { (calls, turns) = ([], 0) }
        return calls
    }
}
