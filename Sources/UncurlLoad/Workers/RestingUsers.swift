/// Virtual users that wait for the next request that is due. Users of HTTP are taken last in, first out, as the
/// engine's idle connections are. Users with a WebSocket are taken in turn, so that every connection carries messages.
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
        // The places of users that were taken are removed when they outnumber the others, so each place moves once.
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
