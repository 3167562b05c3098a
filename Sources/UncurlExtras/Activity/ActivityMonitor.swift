public import Dispatch
internal import Synchronization
public import Uncurl

/// Decides when an activity indicator is shown. A load of less than a second is not shown, and a pause of less than
/// 0.17 s does not hide the indicator.
///
/// Loads are counted by the states of their tasks, not by a counter that could be decremented twice, for example for a
/// task that is suspended and then cancelled. Tasks without a URL do not count. The monitor learns of managers' tasks
/// through their notifications, and of other tasks through ``watch(_:)``.
///
/// ```swift
/// let monitor = ActivityMonitor { isActive in sign.isLit = isActive }
/// monitor.isEnabled = true
/// ```
public final class ActivityMonitor: Sendable {
    /// An activity of the program's own. It counts until ``finish()`` is called or it is released.
    public final class Activity: Sendable {
        private let end: @Sendable () -> Void
        private let isOver = Mutex(false)

        fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        /// Ends the activity. Further calls have no effect.
        public func finish() {
            let isFirst = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst { end() }
        }

        deinit { finish() }
    }

    private struct State {
        var machine = ActivityMachine()
        var isEnabled = false
        /// The tasks that may be running.
        var tasks: [ObjectIdentifier: URLSessionTask] = [:]
        var activities: Set<UInt64> = []
        var last: UInt64 = 0
        /// The number of the current timer; earlier timers are ignored.
        var timer: UInt64 = 0
        var timerTask: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let clock: any Clock<Duration>
    private let startDelay: Duration
    private let endDelay: Duration
    private let queue: DispatchQueue
    private let show: @Sendable (Bool) -> Void
    private let center: NotificationCenter?
    /// The observers of the center. They are removed when this object is released.
    private let observers = Mutex<[any NSObjectProtocol]>([])

    /// - Parameters:
    ///   - startDelay: how long a load must last before it is shown.
    ///   - endDelay: how long nothing must be loading before the indicator is hidden.
    ///   - clock: measures the delays.
    ///   - queue: the queue of `show`; nil for a serial queue of its own.
    ///   - center: the center of managers' notifications; nil for none.
    ///   - show: called with each change, in order.
    public init(
        startDelay: Duration = .seconds(1),
        endDelay: Duration = .milliseconds(170),
        clock: any Clock<Duration> = ContinuousClock(),
        queue: DispatchQueue? = nil,
        center: NotificationCenter? = .default,
        show: @escaping @Sendable (Bool) -> Void
    ) {
        self.startDelay = startDelay
        self.endDelay = endDelay
        self.clock = clock
        self.queue = queue ?? DispatchQueue(label: "uncurl.activity")
        self.show = show
        self.center = center
        guard let center else { return }
        let watch: @Sendable (Notification) -> Void = { [weak self] notification in
            if let task = notification.object as? URLSessionTask { self?.watch(task) }
        }
        for name in [
            URLSessionManager.taskDidResume, URLSessionManager.taskDidSuspend, URLSessionManager.taskDidComplete,
        ] {
            observers.withLock { $0.append(center.addObserver(forName: name, object: nil, queue: nil, using: watch)) }
        }
    }

    deinit {
        state.withLock { $0.timerTask }?.cancel()
        observers.withLock { for observer in $0 { center?.removeObserver(observer) } }
    }

    /// Whether the monitor is on. By default false. Switching it off hides the indicator.
    public var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set {
            state.withLock { state in
                guard state.isEnabled != newValue else { return }
                state.isEnabled = newValue
                let isBusy = Self.count(&state) > 0
                perform(newValue ? state.machine.changed(isBusy: isBusy) : state.machine.disable(), &state)
            }
        }
    }

    /// The number of current loads.
    public var activeCount: Int { state.withLock { Self.count(&$0) } }

    /// Counts a task while it runs. Call this again after the task was resumed or suspended or has ended. For a
    /// manager's tasks, notifications do that.
    public func watch(_ task: URLSessionTask) {
        guard task.currentRequest?.url ?? task.originalRequest?.url != nil else { return }
        state.withLock { state in
            state.tasks[ObjectIdentifier(task)] = task
            refresh(&state)
        }
    }

    /// Begins an activity that is not a task.
    public func begin() -> Activity {
        let number = state.withLock { state in
            state.last += 1
            state.activities.insert(state.last)
            refresh(&state)
            return state.last
        }
        return Activity { [weak self] in
            self?.state.withLock { state in
                state.activities.remove(number)
                self?.refresh(&state)
            }
        }
    }

    // MARK: Private

    var phase: ActivityMachine.State { state.withLock { $0.machine.state } }

    private func refresh(_ state: inout State) {
        let isBusy = Self.count(&state) > 0
        if state.isEnabled { perform(state.machine.changed(isBusy: isBusy), &state) }
    }

    /// Counts running tasks and removes those that have ended. Suspended tasks stay, because they may be resumed.
    private static func count(_ state: inout State) -> Int {
        var running = 0
        for (name, task) in state.tasks {
            switch task.state {
            case .running, .canceling: running += 1
            case .completed: state.tasks[name] = nil
            case .suspended: break
            }
        }
        return running + state.activities.count
    }

    /// Called with the lock held. No effect runs the program's code under the lock: `show` runs on the queue, in the
    /// order of the effects.
    private func perform(_ effects: [ActivityMachine.Effect], _ state: inout State) {
        for effect in effects {
            switch effect {
            case .armStart: arm(startDelay, &state)
            case .armEnd: arm(endDelay, &state)
            case .disarm: disarm(&state)
            case .show(let isActive): queue.async { [show] in show(isActive) }
            }
        }
    }

    private func disarm(_ state: inout State) {
        state.timer += 1
        state.timerTask?.cancel()
        state.timerTask = nil
    }

    private func arm(_ delay: Duration, _ state: inout State) {
        disarm(&state)
        let number = state.timer
        state.timerTask = Task { [weak self, clock] in
            do { try await clock.sleep(for: delay.bounded) } catch { return }
            self?.timeIsUp(number)
        }
    }

    private func timeIsUp(_ number: UInt64) {
        state.withLock { state in
            guard state.timer == number else { return }
            let isBusy = Self.count(&state) > 0
            perform(state.machine.timeIsUp(isBusy: isBusy), &state)
        }
    }
}

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
