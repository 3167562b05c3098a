import Foundation
import Synchronization
import Uncurl

/// One round. It has its own sessions and managers, and begins tasks on them until its time is over.
final class Round: @unchecked Sendable {
    let orders: Orders
    let ledger: Ledger
    let folder: String
    private let seed: UInt64
    private let state: Mutex<State>
    let remains = Remains()

    private struct State {
        var dice: Dice
        var sessions: [ChaosSession] = []
        var managers: [ChaosManager] = []
        var nextGroup = 0
        var isEnding = false
    }

    init(_ orders: Orders, folder: String, ledger: Ledger, seed: UInt64) {
        (self.orders, self.folder, self.ledger, self.seed) = (orders, folder, ledger, seed)
        state = Mutex(State(dice: Dice(seed: seed)))
        state.withLock { state in
            state.sessions = (0..<4).map { makeSession($0, &state) }
            state.managers = (0..<3).map { _ in makeManager(&state) }
        }
    }

    private func makeSession(_ flavour: Int, _ state: inout State) -> ChaosSession {
        state.nextGroup += 1
        return ChaosSession(
            ChaosSession.Flavour.allCases[flavour % 4],
            group: state.nextGroup,
            of: self,
            state.dice.next()
        )
    }

    private func makeManager(_ state: inout State) -> ChaosManager {
        state.nextGroup += 1
        return ChaosManager(group: state.nextGroup, of: self, isSecure: state.dice.chance(50))
    }

    /// Whether the round's time is over, so that no task may begin.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Returns dice for one use. Other threads do not change their numbers.
    func dice() -> Dice { state.withLock { Dice(seed: $0.dice.next()) } }

    // MARK: Beginning tasks

    /// Begins tasks until a moment. As many run at a time as the orders say.
    func run(until end: ContinuousClock.Instant) {
        while ContinuousClock.now < end {
            guard ledger.underWay < orders.tasks else {
                usleep(500)
                continue
            }
            beginOne()
        }
        state.withLock { $0.isEnding = true }
    }

    private func beginOne() {
        enum Choice {
            case session(ChaosSession)
            case manager(ChaosManager)
        }
        var dice = dice()
        let choice = state.withLock { state -> Choice in
            if dice.chance(25) { return .manager(state.managers[dice.below(state.managers.count)]) }
            return .session(state.sessions[dice.below(state.sessions.count)])
        }
        switch choice {
        case .session(let session): session.beginOne(&dice)
        case .manager(let manager): manager.beginOne(&dice)
        }
        if dice.chance(1) { replaceOne(&dice) }
    }

    /// Invalidates a session or a manager while its tasks run, and makes another in its place.
    private func replaceOne(_ dice: inout Dice) {
        let cancels = dice.chance(50)
        if dice.chance(70) {
            let place = dice.below(4)
            let old = state.withLock { state in
                let old = state.sessions[place]
                state.sessions[place] = makeSession(place, &state)
                return old
            }
            old.invalidate(cancelling: cancels)
        } else {
            let old = state.withLock { state in
                let place = state.managers.count - 1
                let old = state.managers[place]
                state.managers[place] = makeManager(&state)
                return old
            }
            old.invalidate(cancelling: cancels)
        }
    }

    // MARK: The end

    /// Longer than any time limit of a task, with the time that SIGSTOP takes.
    private static let patience = Duration.seconds(60)

    /// Waits for the end of every task and releases everything. Returns what is left.
    func end() -> [String] {
        wait { ledger.underWay == 0 }
        letGo()
        let open = ledger.close().map { "\($0.value) tasks without an end: \($0.key)" }
        return open + remains.left(within: Self.patience)
    }

    private func letGo() {
        let (sessions, managers) = state.withLock { state in
            defer { (state.sessions, state.managers) = ([], []) }
            return (state.sessions, state.managers)
        }
        for session in sessions { session.invalidate(cancelling: true) }
        for manager in managers { manager.invalidate(cancelling: true) }
    }

    private func wait(until condition: () -> Bool) {
        let limit = ContinuousClock.now + Self.patience
        while !condition(), ContinuousClock.now < limit { usleep(2_000) }
    }
}

/// The objects that must be freed when a round is over.
final class Remains: Sendable {
    private struct Weak {
        weak var object: AnyObject?
        let kind: String
    }

    private let objects = Mutex<(all: [Weak], sweepAt: Int)>(([], 1_000))

    func watch(_ object: AnyObject, _ kind: String) {
        nonisolated(unsafe) let moved = Weak(object: object, kind: kind)
        objects.withLock { objects in
            objects.all.append(moved)
            guard objects.all.count >= objects.sweepAt else { return }
            objects.all.removeAll { $0.object == nil }
            objects.sweepAt = max(1_000, objects.all.count * 2)
        }
    }

    /// Waits until no object is alive or the time is over. Returns the number of those of each kind that are alive.
    func left(within limit: Duration) -> [String] {
        let end = ContinuousClock.now + limit
        while true {
            let alive = objects.withLock { objects -> [String: Int] in
                var alive: [String: Int] = [:]
                for entry in objects.all where entry.object != nil { alive[entry.kind, default: 0] += 1 }
                return alive
            }
            if alive.isEmpty || ContinuousClock.now > end { return alive.map { "\($0.value) \($0.key) alive" } }
            usleep(5_000)
        }
    }
}
