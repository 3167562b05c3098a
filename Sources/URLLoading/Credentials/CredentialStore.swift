internal import Foundation

/// What a ``URLCredentialStorage`` does: a table in memory and, for the shared one, the permanent part of it on disk.
struct CredentialStore: Sendable {
    /// Of this process: all credentials if there is no file, else those for this session.
    private var own = CredentialTable()
    /// What the file held when it was in that state.
    private var kept = CredentialTable()
    private var seen: StoreFile.State?
    private var hasLooked = false
    private let file: CredentialFile?

    init(file: CredentialFile?) {
        self.file = file
    }

    /// What other processes have changed meanwhile counts too.
    private mutating func refresh() {
        guard let file else { return }
        if !hasLooked { file.removeLeftovers() }
        hasLooked = true
        let state = file.state
        guard state != seen else { return }
        seen = state
        do throws(CredentialFile.Failure) {
            kept = try file.read()
        } catch {
            // A program that does not start would be worse.
            kept = CredentialTable()
            report(error, file)
        }
    }

    private func report(_ failure: CredentialFile.Failure, _ file: CredentialFile) {
        let line =
            switch failure {
            case .damaged:
                "URLLoading: \(file.path) is damaged and not read; the next change puts it aside, as \(file.damagedPath)\n"
            case .file(let fault): "URLLoading: the credentials in \(file.path) cannot be read: \(fault)\n"
            }
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }

    mutating func credentials(for space: ProtectionSpaceValues) -> [String: Credential]? {
        refresh()
        guard let kept = kept.credentials(for: space) else { return own.credentials(for: space) }
        return kept.merging(own.credentials(for: space) ?? [:]) { _, session in session }
    }

    mutating func all() -> [ProtectionSpaceValues: [String: Credential]] {
        refresh()
        return kept.spaces.merging(own.spaces) { kept, session in kept.merging(session) { $1 } }
    }

    /// The session's own choice first.
    mutating func defaultCredential(for space: ProtectionSpaceValues) -> Credential? {
        refresh()
        return own.defaultCredential(for: space) ?? kept.defaultCredential(for: space)
    }

    /// - Returns: whether anything changed.
    mutating func set(_ credential: Credential, for space: ProtectionSpaceValues, isDefault: Bool) -> Bool {
        let isFirst = credentials(for: space) == nil
        return change(keeping: credential.persistence == .permanent && credential.user != nil) { table in
            isDefault
                ? table.setDefault(credential, for: space) : table.set(credential, for: space, isFirst: isFirst)
        }
    }

    mutating func remove(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        let isOwn = own.remove(credential, for: space)
        guard file != nil, credential.persistence == .permanent else { return isOwn }
        return change(keeping: true) { $0.remove(credential, for: space) } || isOwn
    }

    /// A disk that takes nothing must not lose what was set: the process then keeps it for itself.
    private mutating func change(keeping: Bool, _ body: (inout CredentialTable) -> Bool) -> Bool {
        guard keeping, let file else { return body(&own) }
        var isChanged = false
        do throws(StoreFile.Fault) {
            kept = try file.update { isChanged = body(&$0) }
            seen = file.state
            return isChanged
        } catch {
            return body(&own)
        }
    }
}
