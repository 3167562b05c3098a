/// Hears what becomes of a stream task's connection, besides what every source tells. Loop-confined.
protocol StreamLoadDelegate: SourceDelegate {
    /// As much of an answer as is read ahead waits: no more is to come until ``catchUp()``.
    func fallBehind()
    func catchUp()
    /// The user has taken the connection over: the task ends.
    func end(handingOver streams: CapturedStreams)
}
