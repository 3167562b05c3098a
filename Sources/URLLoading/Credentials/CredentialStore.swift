internal import Foundation

/// The content of a ``URLCredentialStorage``: a table in memory and, for the shared one, its permanent part on disk.
struct CredentialStore: Sendable {
    /// The credentials of this process: all if there is no file, or else those for this session.
    private var own = CredentialTable()
    /// The file's content when it was in the state ``seen``.
    private var kept = CredentialTable()
    private var seen: StoreFile.State?
    private var hasLooked = false
    private let file: CredentialFile?

    init(file: CredentialFile?) {
        self.file = file
    }

    /// Reads the file if another process has changed it.
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
            // The program continues without the file's credentials: an unreadable file must not stop it.
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

    /// Returns the default: the session's own first, then the file's.
    mutating func defaultCredential(for space: ProtectionSpaceValues) -> Credential? {
        refresh()
        return own.defaultCredential(for: space) ?? kept.defaultCredential(for: space)
    }

    /// - Returns: whether anything changed.
    mutating func set(_ credential: Credential, for space: ProtectionSpaceValues, isDefault: Bool) -> Bool {
        let isFirst = credentials(for: space) == nil
        func set(in table: inout CredentialTable, isFirst: Bool) -> Bool {
            isDefault ? table.setDefault(credential, for: space) : table.set(credential, for: space, isFirst: isFirst)
        }
        guard credential.persistence == .permanent, credential.user != nil,
            // The next process knows only what the file holds, so its first credential is the default there.
            let isChanged = keep({ set(in: &$0, isFirst: $0.credentials(for: space) == nil) })
        else { return set(in: &own, isFirst: isFirst) }
        return own.yield(to: credential, for: space, isDefault: isDefault) || isChanged
    }

    mutating func remove(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        let isOwn = own.remove(credential, for: space)
        guard file != nil, credential.persistence == .permanent else { return isOwn }
        return keep { $0.remove(credential, for: space) } ?? false || isOwn
    }

    /// Makes a change in the file.
    ///
    /// - Returns: whether anything changed; nil if there is no file, or if the disk refuses the change. Then the
    ///   process keeps it for itself, so that nothing is lost.
    private mutating func keep(_ body: (inout CredentialTable) -> Bool) -> Bool? {
        guard let file else { return nil }
        var isChanged = false
        do throws(StoreFile.Fault) {
            kept = try file.update { isChanged = body(&$0) }
            seen = file.state
            return isChanged
        } catch {
            return nil
        }
    }
}
