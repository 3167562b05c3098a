internal import Foundation
internal import Synchronization
internal import UncurlReactor
internal import UncurlSemantics

/// The content of a ``URLCredentialStorage``: a table in memory and, for the shared one, its permanent part on disk.
/// Any thread.
final class CredentialStore: Sendable {
    /// What this process knows.
    private struct Known {
        /// The credentials of this process: all if there is no file, or else those for this session.
        var own = CredentialTable()
        /// Those of ``own`` that sessions have added.
        var added = AddedCredentials()
        /// The file's content when it was in the state ``seen``.
        var kept = CredentialTable()
        var seen: StoreFile?
        var hasLooked = false
        /// Why the last reading failed; nil if it did not.
        var failure: Errno?
    }

    /// The longest file that is read and written, in octets: some ten thousand credentials.
    static let longestFile = 4 << 20

    private let known = Mutex(Known())
    /// Held by the thread that makes a change, which may wait for the file's lock and for the disk. Readers wait for
    /// neither: a session reads on its loop.
    private let changing = Mutex(())
    private let file: CredentialFile?
    private let reportLine: @Sendable (String) -> Void

    /// - Parameters:
    ///   - file: the file; nil for a store in memory alone.
    ///   - report: called with a sentence on a file that cannot be read.
    init(file: CredentialFile?, report: @escaping @Sendable (String) -> Void = StoreFile.report) {
        self.file = file
        reportLine = report
    }

    /// Runs `body` with what is known, once the file was read if another process has changed it.
    private func read<Result: Sendable>(_ body: (Known) -> Result) -> Result {
        known.withLock { known in
            if let file { refresh(&known, file) }
            return body(known)
        }
    }

    private func refresh(_ known: inout Known, _ file: CredentialFile) {
        if !known.hasLooked { file.removeLeftovers() }
        known.hasLooked = true
        let state = file.state
        guard state != known.seen else { return }
        do throws(Errno) {
            known.kept = try file.table()
            (known.seen, known.failure) = (state, nil)
        } catch {
            // The program continues without the file's credentials: an unreadable file must not stop it. If the disk or
            // a lack of descriptors is the reason, what was known stays, and the next look reads again.
            if error == StoreFile.damage { (known.kept, known.seen) = (CredentialTable(), state) }
            if error != known.failure {
                let unread = "the credentials in \(file.path) cannot be read: \(error.words)"
                reportLine(error == StoreFile.damage ? file.damage : unread)
            }
            known.failure = error
        }
    }

    func credentials(for space: ProtectionSpaceValues) -> [String: Credential]? {
        read { known in
            guard let kept = known.kept.credentials(for: space) else { return known.own.credentials(for: space) }
            return kept.merging(known.own.credentials(for: space) ?? [:]) { _, session in session }
        }
    }

    func all() -> [ProtectionSpaceValues: [String: Credential]] {
        read { $0.kept.spaces.merging($0.own.spaces) { kept, session in kept.merging(session) { $1 } } }
    }

    /// Returns the default: the session's own first, then the file's.
    func defaultCredential(for space: ProtectionSpaceValues) -> Credential? {
        read { $0.own.defaultCredential(for: space) ?? $0.kept.defaultCredential(for: space) }
    }

    /// - Parameter isAdded: whether a session stores it, and not the program.
    /// - Returns: whether anything changed.
    func set(
        _ credential: Credential,
        for space: ProtectionSpaceValues,
        isDefault: Bool,
        isAdded: Bool = false
    ) -> Bool {
        let place = (space: space, name: credential.name)
        func set(in table: inout CredentialTable, isFirst: Bool) -> Bool {
            isDefault ? table.setDefault(credential, for: space) : table.set(credential, for: space, isFirst: isFirst)
        }
        return changing.withLock { _ in
            if credential.persistence == .permanent, credential.user != nil,
                // The next process knows only what the file holds, so its first credential is the default there.
                let isChanged = keep({ set(in: &$0, isFirst: $0.credentials(for: space) == nil) })
            {
                return known.withLock { known in
                    known.added.remove(place)
                    return known.own.yield(to: credential, for: space, isDefault: isDefault)
                } || isChanged
            }
            let isFirst = credentials(for: space) == nil
            return known.withLock { known in
                let isNew = known.own.credentials(for: space)?[place.name] == nil
                let isChanged = set(in: &known.own, isFirst: isFirst)
                if !isAdded {
                    known.added.remove(place)
                } else if isNew, isChanged {
                    for old in known.added.add(place) { known.own.removeUser(old.name, for: old.space) }
                }
                return isChanged
            }
        }
    }

    func remove(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        changing.withLock { _ in
            let isOwn = known.withLock { known in
                let isOwn = known.own.remove(credential, for: space)
                if isOwn { known.added.remove((space, credential.name)) }
                return isOwn
            }
            guard file != nil, credential.persistence == .permanent else { return isOwn }
            return keep { $0.remove(credential, for: space) } ?? false || isOwn
        }
    }

    /// Makes a change in the file.
    ///
    /// - Returns: whether anything changed; nil if there is no file, or if the disk refuses the change. Then the
    ///   process keeps it for itself, so that nothing is lost.
    private func keep(_ body: (inout CredentialTable) -> Bool) -> Bool? {
        guard let file else { return nil }
        var isChanged = false
        do throws(Errno) {
            let (table, state) = try file.update { isChanged = body(&$0) }
            known.withLock { ($0.kept, $0.seen) = (table, state) }
            return isChanged
        } catch {
            return nil
        }
    }
}

/// The credentials that sessions have added to a storage, by server, the oldest first. A server may name a new realm in
/// each challenge, so as many are kept as of the answers to them (``AuthorizationMemory``). Those that the program
/// stores itself have no limit.
struct AddedCredentials {
    /// A space, and the user of the credential in it.
    typealias Place = (space: ProtectionSpaceValues, name: String)

    private var places: [ProtectionSpaceValues: [Place]] = [:]
    /// The servers, the oldest first.
    private var servers: [ProtectionSpaceValues] = []

    /// Adds a place. Returns those that are left out for it.
    mutating func add(_ place: Place) -> [Place] {
        let server = place.space.server
        var old: [Place] = []
        if places[server] == nil {
            if servers.count == AuthorizationMemory.serverLimit {
                old = places.removeValue(forKey: servers.removeFirst()) ?? []
            }
            servers.append(server)
        }
        var own = places[server] ?? []
        if own.count == AuthorizationMemory.realmLimit { old.append(own.removeFirst()) }
        own.append(place)
        places[server] = own
        return old
    }

    /// Leaves out a place that the program itself has changed.
    mutating func remove(_ place: Place) { places[place.space.server]?.removeAll { $0 == place } }
}

extension ProtectionSpaceValues {
    /// What all spaces of the server have in common.
    fileprivate var server: ProtectionSpaceValues {
        ProtectionSpaceValues(host: host, port: port, side: side, realm: nil, method: nil)
    }
}

/// Credentials by space and user, and for some spaces the default, which is tried first.
struct CredentialTable: Equatable, Sendable {
    private(set) var spaces: [ProtectionSpaceValues: [String: Credential]] = [:]
    private(set) var defaults: [ProtectionSpaceValues: Credential] = [:]

    var isEmpty: Bool { spaces.isEmpty && defaults.isEmpty }

    func credentials(for space: ProtectionSpaceValues) -> [String: Credential]? { spaces[space] }

    /// Returns the credential that was set as the space's default, or else was its first; nil once that one has been
    /// removed. A space without a default falls back on the one stored for the same space with the default method.
    func defaultCredential(for space: ProtectionSpaceValues) -> Credential? {
        defaults[space] ?? (Self.passwordMethods.contains(space.method) ? defaults[space.forDefaultMethod] : nil)
    }

    /// The methods that the default method stands for.
    private static let passwordMethods: Set<String> = [
        NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
    ]

    /// - Parameter isFirst: whether no other is known for the space: then it becomes the default.
    /// - Returns: whether anything changed.
    mutating func set(_ credential: Credential, for space: ProtectionSpaceValues, isFirst: Bool) -> Bool {
        guard credential.isStorable, spaces[space]?[credential.name] != credential else { return false }
        spaces[space, default: [:]][credential.name] = credential
        // If the default's user gets another credential, that becomes the default.
        if isFirst || defaults[space]?.name == credential.name { defaults[space] = credential }
        return true
    }

    mutating func setDefault(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        guard credential.isStorable else { return false }
        let isNew = set(credential, for: space, isFirst: false)
        guard defaults[space] != credential else { return isNew }
        defaults[space] = credential
        return true
    }

    /// Makes way for a credential that another table keeps from here on: the same user's is removed.
    ///
    /// - Parameter isDefault: whether it is the default there.
    /// - Returns: whether anything changed.
    mutating func yield(to credential: Credential, for space: ProtectionSpaceValues, isDefault: Bool) -> Bool {
        let before = self
        drop(credential.name, space)
        if isDefault {
            defaults[space] = nil
        } else if defaults[space]?.name == credential.name {
            defaults[space] = credential
        }
        return self != before
    }

    private mutating func drop(_ name: String, _ space: ProtectionSpaceValues) {
        spaces[space]?[name] = nil
        if spaces[space]?.isEmpty == true { spaces[space] = nil }
    }

    /// Removes a user's credential, whatever it is.
    mutating func removeUser(_ name: String, for space: ProtectionSpaceValues) {
        if let credential = spaces[space]?[name] { _ = remove(credential, for: space) }
    }

    mutating func remove(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        var isChanged = false
        if spaces[space]?[credential.name] == credential {
            drop(credential.name, space)
            isChanged = true
        }
        if defaults[space] == credential {
            defaults[space] = nil
            isChanged = true
        }
        return isChanged
    }
}
