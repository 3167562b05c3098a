/// Decides when an activity indicator is shown: not for short loads, and without flicker between two loads.
///
///     inactive ──begins──▶ delaying start ──1 s, still busy──▶ active ──ends──▶ delaying end
///        ▲                      │ 1 s, idle                      ▲                  │  │
///        ├──────────────────────┘                                └──────begins──────┘  │
///        └──────────────────────────────0.17 s, still idle─────────────────────────────┘
///
/// While the start is delayed, changes have no effect: only the activity at the end of the delay counts.
struct ActivityMachine {
    enum State: Hashable, Sendable {
        case inactive
        case delayingStart
        case active
        case delayingEnd
    }

    /// What the owner must do.
    enum Effect: Hashable {
        /// Arms the timer of the start, in place of an earlier timer.
        case armStart
        case armEnd
        case disarm
        case show(Bool)
    }

    private(set) var state = State.inactive

    mutating func changed(isBusy: Bool) -> [Effect] {
        switch (state, isBusy) {
        case (.inactive, true):
            state = .delayingStart
            return [.armStart]
        case (.active, false):
            state = .delayingEnd
            return [.armEnd]
        case (.delayingEnd, true):
            state = .active
            return [.disarm]
        case (.inactive, false), (.delayingStart, _), (.active, true), (.delayingEnd, false): return []
        }
    }

    /// The timer has fired.
    mutating func timeIsUp(isBusy: Bool) -> [Effect] {
        switch (state, isBusy) {
        case (.delayingStart, true):
            state = .active
            return [.show(true)]
        case (.delayingStart, false):
            state = .inactive
            return []
        case (.delayingEnd, _):
            state = .inactive
            return [.show(false)]
        case (.inactive, _), (.active, _): return []
        }
    }

    /// The monitor has been disabled.
    mutating func disable() -> [Effect] {
        let former = state
        state = .inactive
        switch former {
        case .inactive: return []
        case .delayingStart: return [.disarm]
        case .active, .delayingEnd: return [.disarm, .show(false)]
        }
    }
}
