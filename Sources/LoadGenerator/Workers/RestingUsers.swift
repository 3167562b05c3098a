/// Virtual users that wait for the next request that is due. HTTP's are taken last in, first out, as the engine's idle
/// connections are; those with a WebSocket each in turn, so that every connection carries messages.
struct RestingUsers<User: AnyObject> {
    private var users: [User]
    private var first = 0
    private let isInTurn: Bool

    init(_ users: [User] = [], inTurn: Bool = false) { (self.users, isInTurn) = (users, inTurn) }

    var count: Int { users.count - first }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ user: User) { users.append(user) }

    mutating func take() -> User? {
        guard isInTurn else { return users.popLast() }
        guard first < users.count else { return nil }
        let user = users[first]
        first += 1
        // The places of users that were taken are removed when they are more than those left, so each place is moved
        // once.
        if first * 2 > users.count {
            users.removeFirst(first)
            first = 0
        }
        return user
    }

    /// Returns false if the user was not resting.
    mutating func remove(_ user: User) -> Bool {
        guard let index = users[first...].firstIndex(where: { $0 === user }) else { return false }
        users.remove(at: index)
        return true
    }
}
